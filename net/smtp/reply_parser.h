#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// The replies of a mail server (RFC 5321 4.2), out of the bytes that come. Pure.
namespace vedette::net {

struct SmtpReply {
  int code = 0;                    // 200..599
  std::string enhanced{};          // "5.1.1" (RFC 3463) of the last line that has one, or empty
  std::vector<std::string> lines;  // what follows the codes, printable ASCII; for keywords of EHLO
};

inline constexpr std::size_t kSmtpLineBytesMax = 4096;
inline constexpr std::size_t kSmtpReplyLinesMax = 64;
inline constexpr std::size_t kSmtpReplyBytesMax = 64 * 1024;

class SmtpReplyParser {
 public:
  void Feed(std::string_view bytes) { buffer_.append(bytes); }

  // The next complete reply, if there is one. A line ends with LF, with or without CR.
  std::optional<SmtpReply> Next();

  // What came is no reply: a line without a code or with a NUL, another code inside a reply, or
  // over a limit. Nothing follows then.
  bool broken() const { return broken_; }

  // No byte waits to be read.
  bool drained() const { return buffer_.empty() && !partial_; }

 private:
  enum class Line : std::uint8_t { kMore, kLast, kBroken };
  Line Take(std::string_view line);

  std::string buffer_;
  std::size_t scanned_ = 0;           // of buffer_, without an end of line
  std::optional<SmtpReply> partial_;  // whose last line has not come
  std::size_t reply_bytes_ = 0;       // of partial_
  bool broken_ = false;
};

// The enhanced code with which the text begins, or empty.
std::string EnhancedCode(std::string_view text);

}  // namespace vedette::net
