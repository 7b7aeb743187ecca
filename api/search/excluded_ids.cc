#include "api/search/excluded_ids.h"

#include <fmt/format.h>

#include "base/text.h"
#include "domain/search/document.h"
#include "domain/search/exclusions.h"

namespace vedette::api {

std::vector<std::string> ReadExcludedIds(rest::BodyReader* reader, std::string_view name,
                                         rest::Presence presence, rest::Problems* problems) {
  constexpr std::size_t kMax = domain::search::kExcludedIdsMax;
  constexpr std::size_t kCharsMax = domain::search::kDocumentIdCharsMax;
  auto ids = reader->Texts(name, presence);
  if (!ids) return {};
  const base::Json loc = rest::BodyReader::Loc(name);
  if (ids->empty() && presence == rest::Presence::kRequired) {
    problems->Add(loc, "too_short", "List should have at least 1 item", base::Json::array());
  }
  if (ids->size() > kMax) {
    problems->Add(loc, "too_long", fmt::format("List should have at most {} items", kMax), nullptr);
    return {};
  }
  for (std::size_t i = 0; i < ids->size(); ++i) {
    const std::size_t chars = base::CountCharacters((*ids)[i]);
    if (chars >= 1 && chars <= kCharsMax) continue;
    problems->Add(base::Json::array({"body", name, i}),
                  chars == 0 ? "string_too_short" : "string_too_long",
                  fmt::format("String should have 1 to {} characters", kCharsMax), nullptr);
  }
  return std::move(*ids);
}

}  // namespace vedette::api
