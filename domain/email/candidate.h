#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "domain/email/address_pattern.h"

namespace vedette::domain {

// What is known of an address. The names are those of the interface.
enum class AddressStatus : std::uint8_t {
  kOk,        // "OK": validated, likely deliverable
  kUnknown,   // "UNKNOWN": nobody could tell
  kNotFound,  // "NOT_FOUND": its server refuses it
};

// Limits of what is kept of a candidate. A longer list is cut, a longer quote too; a longer URL,
// and what is no web address, is left out.
inline constexpr std::size_t kCandidateSourcesMax = 5;
inline constexpr std::size_t kCandidateSourceBytesMax = 1024;
inline constexpr std::size_t kCandidateQuoteCharactersMax = 300;

inline constexpr int kConfidenceMax = 10;
// The confidence where a provider names none of its own.
inline constexpr int kConfidenceOk = 10;
inline constexpr int kConfidenceStated = 6;
inline constexpr int kConfidenceGuessed = 2;
// The confidence of guesses: an OK one by a learned pattern, by a pattern of both names, of one
// name alone; and one by a learned pattern that nobody could verify.
inline constexpr int kConfidenceOkLearned = 9;
inline constexpr int kConfidenceOkBothNames = 8;
inline constexpr int kConfidenceOkOneName = 5;
inline constexpr int kConfidenceGuessedLearned = 4;

// An address that may be the person's, as a provider gave it.
struct Candidate {
  std::string address;  // of valid syntax, as it was given
  bool stated = true;   // a page or a service gave it; otherwise it was made from a pattern
  AddressStatus status = AddressStatus::kUnknown;
  int confidence = 0;                       // 0..kConfidenceMax
  std::vector<std::string> sources;         // URLs
  std::string quote;                        // of the source; empty where there is none
  std::optional<AddressPattern> pattern{};  // that makes it from the name, where that is known
  PatternSeen seen = PatternSeen::kNot;     // of a guess: its pattern, at its domain
};

// The confidence that an address has by how it was found, without a word of its provider's own.
int ConfidenceOf(const Candidate& candidate);
using Candidates = std::vector<Candidate>;

}  // namespace vedette::domain
