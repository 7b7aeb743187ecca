// Replies are bounded, and the same however their bytes arrive. The first byte says where they are
// cut.
#include <cstdlib>
#include <string>
#include <string_view>

#include "net/smtp/dialogue.h"
#include "tests/fuzz/target.h"

namespace vedette {
namespace {

using net::SmtpReplyParser;

std::string Drain(SmtpReplyParser* parser) {
  std::string said;
  while (const auto reply = parser->Next()) {
    if (reply->code < 200 || reply->code > 599) std::abort();
    if (reply->lines.size() > net::kSmtpReplyLinesMax) std::abort();
    said += std::to_string(reply->code) + ' ' + reply->enhanced + '\n';
    for (const std::string& line : reply->lines) {
      if (line.size() > net::kSmtpLineBytesMax) std::abort();
      said += line + '\n';
    }
  }
  return said;
}

}  // namespace

FUZZ_TARGET(smtp_reply, bytes) {
  if (bytes.empty()) return;
  const std::string_view replies = bytes.substr(1);
  const std::size_t cut =
      replies.empty() ? 0 : static_cast<unsigned char>(bytes[0]) % replies.size();
  SmtpReplyParser whole;
  whole.Feed(replies);
  const std::string said = Drain(&whole);
  SmtpReplyParser parts;
  parts.Feed(replies.substr(0, cut));
  std::string again = Drain(&parts);
  parts.Feed(replies.substr(cut));
  again += Drain(&parts);
  if (said != again || whole.broken() != parts.broken()) std::abort();
}

}  // namespace vedette
