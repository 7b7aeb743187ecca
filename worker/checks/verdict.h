#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "domain/monitor/change_rules.h"
#include "domain/monitor/enums.h"
#include "worker/probes/probe.h"

// What follows from an observation. Pure: a reader learns here what a change is.
namespace vedette::worker {

// What is known of a row before the check. Members are objects, field -> value.
struct KnownValues {
  base::JsonText baseline;
  std::optional<base::JsonText> known;  // empty: as baseline
  // {field: {"value", "seen", "told"}}: what is being confirmed (`seen` is 0 where nothing is), and
  // the value that was told last where it is not the known one.
  std::optional<base::JsonText> pending;
  // Some values of the row were left out above, because their fields have changed since they were
  // observed. Where the row is written, it is written without them.
  bool forgets = false;

  const base::JsonText& Current() const { return known ? *known : baseline; }
};

struct VerdictRules {
  int confirm_after = 1;          // checks in a row that must see a new value
  int missing_confirmations = 2;  // checks in a row that must miss a field
  // Which changes are told; null: all. Must outlive the call.
  const domain::RulesOfFields* of_fields = nullptr;
};

struct FieldChange {
  std::string field;
  base::Json previous_value;
  base::Json current_value;
  std::string evidence;
  std::vector<std::string> sources;
  std::optional<double> confidence;
};

struct Verdict {
  domain::Outcome outcome = domain::Outcome::kUnchanged;
  std::vector<FieldChange> changes;  // by field, at most one each
  // "class: sentence" of a failed check, or of the fields that could not be read where others were.
  std::optional<std::string> error;
  // Fields that a completed check looked for and that have never had a value.
  int never_observed = 0;
  // Whether the row has to be written, and then its new values; `known` and `baseline` are empty
  // where they stay as they are, `pending` is empty where nothing is pending any more.
  bool row_changed = false;
  std::optional<base::Json> baseline;
  std::optional<base::Json> known;
  std::optional<base::Json> pending;
  // What was seen of the fields whose values stand in `baseline` or `known` from this check on, and
  // null for those that are absent at their first observation.
  std::map<std::string, std::optional<FieldObservation>> seen;
};

// The rules: only what was observed can be a change. A first observation becomes the baseline
// silently. A new value counts once it was seen in confirm_after checks in a row, an absence in
// missing_confirmations; what is being confirmed is `pending`. A failed check changes nothing, and
// neither does a field that could not be read, for the field.
//
// A field's own rules (domain/monitor/change_rules.h) come after that: a value that differs only in
// what is ignored is the known one; a change that a rule leaves untold makes no event, and the new
// value is known all the same. Below a threshold the value that was told last stays in `pending`,
// so that many small changes are told together. Throws std::invalid_argument where `before` is no
// JSON.
Verdict DecideVerdict(const std::vector<WatchedField>& watched, const VerdictRules& rules,
                      const KnownValues& before, const ProbeResult& result);

// Equal after normalisation: strings trimmed with white space folded, as pages are
// (base::FoldSpace, so that a no-break space is a space); numbers by value, also against text that
// is a number; null, and text that is blank, are no value and equal each other.
bool SameValue(const base::Json& a, const base::Json& b);

}  // namespace vedette::worker
