// A mention lies in its text, and so does its quote.
#include <cstdlib>
#include <string>

#include "base/text.h"
#include "domain/people/date_mention.h"
#include "tests/fuzz/target.h"

namespace vedette {

FUZZ_TARGET(date, bytes) {
  const std::string text = base::FoldSpace(base::RepairUtf8(bytes));
  const auto mentions = domain::ReadDateMentions(text);
  if (mentions.size() > domain::kDateMentionsMax) std::abort();
  for (const domain::DateMention& mention : mentions) {
    if (mention.at + mention.length > text.size()) std::abort();
    if (!base::IsValidUtf8(domain::QuoteOf(text, mention))) std::abort();
  }
  domain::ReadDateValue(text);
}

}  // namespace vedette
