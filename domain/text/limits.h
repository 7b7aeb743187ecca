#pragma once

#include <chrono>
#include <cstddef>

// Limits that the interface fixes. Those that an operator may choose are in config/*_config.h.
namespace vedette::domain {

inline constexpr int kRowPageDefault = 100;
inline constexpr int kRowPageMax = 1000;
inline constexpr int kEventsDefault = 20;
inline constexpr int kEventsMax = 500;
inline constexpr std::size_t kUrlCharsMax = 2083;
// A longer text is a 422; one up to here that is no URL, or too long for one, is a 400.
inline constexpr std::size_t kUrlReadCharsMax = 65536;
inline constexpr std::size_t kNameCharsMax = 200;    // of what a client or an operator makes
inline constexpr std::size_t kColumnCharsMax = 200;  // of a column's or a field's name
inline constexpr std::size_t kReasonCharsMax = 500;
inline constexpr std::size_t kDescriptionCharsMax = 10'000;  // of a monitor or a workflow
// A text that has to be one of a few words: a longer one is not repeated in the refusal.
inline constexpr std::size_t kWordCharsMax = 200;
inline constexpr std::chrono::seconds kFrequencyMin = std::chrono::hours(1);
inline constexpr std::chrono::seconds kFrequencyMax = std::chrono::days(30);
inline constexpr std::chrono::seconds kFrequencyTesting = std::chrono::minutes(5);
inline constexpr int kNextRunTimesShown = 5;
inline constexpr int kJsonDepthMax = 64;
inline constexpr std::size_t kIdempotencyKeyCharsMax = 255;
inline constexpr std::size_t kRunIdCharsMax = 200;

// Outcomes are logged in blocks of so many positions (check_log.block = position / 256).
inline constexpr int kBlockRows = 256;

}  // namespace vedette::domain
