// A mention lies in its text, and so does its quote.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/text.h"
#include "domain/people/date_mention.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace vedette;
  const std::string text =
      base::FoldSpace(base::RepairUtf8({reinterpret_cast<const char*>(data), size}));
  const auto mentions = domain::ReadDateMentions(text);
  if (mentions.size() > domain::kDateMentionsMax) std::abort();
  for (const domain::DateMention& mention : mentions) {
    if (mention.at + mention.length > text.size()) std::abort();
    if (!base::IsValidUtf8(domain::QuoteOf(text, mention))) std::abort();
  }
  domain::ReadDateValue(text);
  return 0;
}
