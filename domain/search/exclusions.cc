#include "domain/search/exclusions.h"

#include <fmt/format.h>

#include <array>

#include "domain/name_table.h"

namespace vedette::domain::search {
namespace {

constexpr std::array<std::string_view, 2> kListStateNames = {"filling", "ready"};

FilterError Refused(std::string message) {
  return {std::string(kInvalidExclusions), std::move(message)};
}

}  // namespace

std::string_view ExclusionListStateName(ExclusionListState state) {
  return NameIn(kListStateNames, state);
}

std::optional<FilterError> JudgeExclusions(const Exclusions& exclusions, Mode mode) {
  if (exclusions.public_ids.empty()) return std::nullopt;
  if (mode == Mode::kCompany) return Refused("exclude_public_ids is for the mode people alone");
  if (exclusions.entity_ids.empty()) return std::nullopt;
  return Refused("exclude_public_ids and exclude_entity_ids do not go together");
}

std::optional<FilterError> JudgeExclusionList(std::string_view list_id, Mode list_mode,
                                              ExclusionListState state, Mode mode) {
  if (list_mode != mode) {
    return Refused(
        fmt::format("the exclusion list {} is of the entity type {}, and the request of {}",
                    list_id, ModeName(list_mode), ModeName(mode)));
  }
  if (state == ExclusionListState::kReady) return std::nullopt;
  return Refused(fmt::format("the exclusion list {} is not ready yet", list_id));
}

std::optional<FilterError> JudgeExcludedSum(int ids) {
  if (ids <= kExclusionListIdsMax) return std::nullopt;
  return Refused(fmt::format("the exclusion lists name {} ids, and may name {} together", ids,
                             kExclusionListIdsMax));
}

}  // namespace vedette::domain::search
