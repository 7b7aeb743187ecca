#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/config_fwd.h"

namespace vedette::net {

// An answer whose lines are wanted as they come, from an address of the operator's. For a command
// that does nothing else: it blocks, and curl does by itself what HttpClient does on the loop.
struct LineStream {
  std::string url;
  std::vector<std::pair<std::string, std::string>> headers;
  std::chrono::seconds quiet_max{60};  // without a byte: the connection is taken for dead
};

struct StreamEnd {
  int status = 0;     // 0: there was no answer
  std::string body;   // of another status than 200, at most kStreamRefusalBytesMax
  std::string error;  // a sentence, where there was no answer, or it broke off
};
inline constexpr std::size_t kStreamRefusalBytesMax = 65536;
inline constexpr std::size_t kStreamLineBytesMax = std::size_t{1} << 20;  // longer: it broke off

// Gives `take` each line of a 200 without its end, until the answer ends or `take` says false. What
// `take` throws comes out of here.
StreamEnd ReadLines(const LineStream& stream, const config::NetConfig& config,
                    const std::function<bool(std::string_view line)>& take);

}  // namespace vedette::net
