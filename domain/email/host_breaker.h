#pragma once

#include <algorithm>
#include <chrono>

// When a mail host is to be left alone, as it refuses us or is not there. The fleet counts it
// together, by EHLO name and class (table mail_host). Pure.
//
//   served --refused, about three different domains in a row--> blocked for 30 min, 1 h, .. 6 h
//     ^  ^ |                                                      ^
//     |  | +--five connections fail in a row----------------------+
//     |  +--a recipient is accepted, or refused as an unknown mailbox
//     +-----the block is over
namespace vedette::domain {

inline constexpr int kMailRefusalsMax = 3;
inline constexpr int kMailConnectFailuresMax = 5;

// How long the first block is, and the longest one.
struct MailBlockTimes {
  std::chrono::milliseconds first = std::chrono::minutes(30);
  std::chrono::milliseconds max = std::chrono::hours(6);
};

// `before`: how often in a row it was blocked.
constexpr std::chrono::milliseconds MailBlockFor(const MailBlockTimes& times, int before) {
  constexpr int kDoublingsMax = 4;
  return std::min(times.first * (1 << std::min(before, kDoublingsMax)), times.max);
}

}  // namespace vedette::domain
