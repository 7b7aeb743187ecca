// Replies are bounded, and the same however their bytes arrive. The first byte says where they are
// cut.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "net/smtp/dialogue.h"

namespace {

using vedette::net::SmtpReplyParser;

std::string Drain(SmtpReplyParser* parser) {
  std::string said;
  while (const auto reply = parser->Next()) {
    if (reply->code < 200 || reply->code > 599) std::abort();
    if (reply->lines.size() > vedette::net::kSmtpReplyLinesMax) std::abort();
    said += std::to_string(reply->code) + ' ' + reply->enhanced + '\n';
    for (const std::string& line : reply->lines) {
      if (line.size() > vedette::net::kSmtpLineBytesMax) std::abort();
      said += line + '\n';
    }
  }
  return said;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::size_t cut = bytes.empty() ? 0 : data[0] % bytes.size();
  SmtpReplyParser whole;
  whole.Feed(bytes);
  const std::string said = Drain(&whole);
  SmtpReplyParser parts;
  parts.Feed(bytes.substr(0, cut));
  std::string again = Drain(&parts);
  parts.Feed(bytes.substr(cut));
  again += Drain(&parts);
  if (said != again || whole.broken() != parts.broken()) std::abort();
  return 0;
}
