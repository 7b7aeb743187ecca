#include "domain/search/documents.h"

#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/json.h"
#include "base/text.h"
#include "domain/text/limits.h"
#include "domain/text/name_table.h"

namespace vedette::domain::search {
namespace {

constexpr std::array<std::string_view, 4> kImportStateNames = {"receiving", "counting", "current",
                                                               "former"};

}  // namespace

std::string_view ImportStateName(ImportState state) {
  return NameIn(kImportStateNames, state);
}

std::variant<Document, std::string> ReadDocument(std::string_view line) {
  if (line.size() > kDocumentBytesMax) {
    return fmt::format("a document has at most {} bytes", kDocumentBytesMax);
  }
  base::Json object;
  if (auto error = base::ParseJson(line, &object, {.depth_max = kJsonDepthMax})) {
    return std::move(error->message);
  }
  if (!object.is_object()) return "a document is an object";
  const auto id = object.find("id");
  if (id == object.end() || !id->is_string()) return "a document has an id that is a string";
  const std::size_t chars = base::CountCharacters(id->get_ref<const std::string&>());
  if (chars < 1 || chars > kDocumentIdCharsMax) {
    return fmt::format("the id of a document has 1 to {} characters", kDocumentIdCharsMax);
  }
  return Document{id->get<std::string>(), base::DumpJson(object)};
}

namespace {

constexpr std::array<std::string_view, 2> kListStateNames = {"filling", "ready"};

FilterError Refused(std::string message) {
  return {std::string(kInvalidExclusions), std::move(message)};
}

}  // namespace

std::string_view ExclusionListStateName(ExclusionListState state) {
  return NameIn(kListStateNames, state);
}

std::optional<FilterError> ValidateExclusions(const Exclusions& exclusions, Mode mode) {
  if (exclusions.public_ids.empty()) return std::nullopt;
  if (mode == Mode::kCompany) return Refused("exclude_public_ids is for the mode people alone");
  if (exclusions.entity_ids.empty()) return std::nullopt;
  return Refused("exclude_public_ids and exclude_entity_ids do not go together");
}

std::optional<FilterError> ValidateExclusionList(std::string_view list_id, Mode list_mode,
                                                 ExclusionListState state, Mode mode) {
  if (list_mode != mode) {
    return Refused(
        fmt::format("the exclusion list {} is of the entity type {}, and the request of {}",
                    list_id, ModeName(list_mode), ModeName(mode)));
  }
  if (state == ExclusionListState::kReady) return std::nullopt;
  return Refused(fmt::format("the exclusion list {} is not ready yet", list_id));
}

std::optional<FilterError> ValidateExcludedSum(int ids) {
  if (ids <= kExclusionListIdsMax) return std::nullopt;
  return Refused(fmt::format("the exclusion lists name {} ids, and may name {} together", ids,
                             kExclusionListIdsMax));
}

}  // namespace vedette::domain::search
