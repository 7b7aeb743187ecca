#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/json_text.h"

// What is known now of a row's watched fields, and where it comes from. Pure.
//
// A row keeps its values apart from the facts about them: the values are in `known` (or in
// `baseline`, while `known` is empty), which every check reads; the facts are in `seen`, which only
// readers of the API read:
//
//   {field: {"since", "evidence", "sources", "confidence", "of"}}   or   {field: null}
//
// `of` is the fingerprint of the value that the facts are about. Facts whose fingerprint is not
// that of the present value are about an older one, and are not shown: a version of this program
// that does not know `seen` has written the value. Null stands for a field that was looked for and
// has never been observed.
namespace vedette::domain {

struct FieldObservation;  // domain/monitor/observation.h

// The version of a monitor's struct at which each field last changed or left; empty where none did.
// What was observed with an earlier version of a field is forgotten: it is left out of what the
// next check compares with, and of what is shown.
using FieldVersions = std::map<std::string, int, std::less<>>;

// The JSON object that a monitor keeps; nothing where there is none.
FieldVersions ParseFieldVersions(const std::optional<std::string>& json);
std::string FieldVersionsJson(const FieldVersions& versions);

// The fields whose knowledge does not count once the struct `after` replaces `before`: those with
// another description, and those that only one of the two has.
std::vector<std::string> ChangedFields(const base::Json& before, const base::Json& after);

// Whether something of a row whose values were observed with `row_version` is forgotten.
bool ForgetsAny(const FieldVersions& versions, int row_version);
// `values` (field -> anything) without what is forgotten.
base::Json WithoutForgotten(const base::Json& values, const FieldVersions& versions,
                            int row_version);

// The facts about a value that was observed at `since`, for `seen`. Evidence that the database
// could not keep is left out.
base::Json FactsOf(const FieldObservation& observed, base::Timestamp since);

// What a row keeps, as stored; JSON texts.
struct KnownOfRow {
  std::string_view baseline_json;
  std::optional<std::string_view> known_json;  // empty: as the baseline
  std::optional<std::string_view> seen_json;
  int struct_version = 0;
};

struct CurrentValues {
  // The baseline's values of watched fields that are not forgotten.
  base::JsonText baseline;
  // {field: {"value", "since", "evidence", "sources", "confidence"}}, one member for each watched
  // field, in the order of the struct; what is not known is null.
  base::JsonText values;
  // Watched fields that have no value and never had one. A row that was not checked yet has them
  // all, except for those that were given with it.
  std::vector<std::string> never_observed;
};
// `watched` is the monitor's struct. Throws std::invalid_argument where a text is no JSON.
CurrentValues CurrentValuesOf(const base::Json& watched, const FieldVersions& versions,
                              const KnownOfRow& row);

// A row's further columns, as stored, without those that a change of the struct has made watched
// fields since; nothing where there are none. Throws as CurrentValuesOf.
std::optional<std::string> ContextOf(std::optional<std::string> context_json,
                                     const FieldVersions& versions,
                                     const std::function<bool(std::string_view)>& is_watched);

}  // namespace vedette::domain
