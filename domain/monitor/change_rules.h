#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_text.h"

// Which changes of a watched field a customer wants to be told of (docs/decisions/0033), as the
// member `rules` of a monitor says:
//
//   {field: {"only_if": {"above", "below", "matches", "not_matches"},
//            "threshold": {"absolute", "percent"},
//            "ignore": [pattern, ...]}}
//
// Patterns are RE2's: their time is linear in the text, also for hostile ones. Pure; any thread.
namespace vedette::domain {

struct ValidationFault;  // domain/text/json_schema.h

// The rules of one field; a member that is empty asks for nothing.
struct ChangeRules {
  // Conditions on the new value; every one that is given has to hold.
  std::optional<double> above;
  std::optional<double> below;
  std::optional<std::string> matches;
  std::optional<std::string> not_matches;
  // By how much a number has to differ from the one that was told last; both, where both are given.
  std::optional<double> absolute;
  std::optional<double> percent;
  // What does not count in a text: two texts that differ in nothing else are the same.
  std::vector<std::string> ignore;
};
using RulesOfFields = std::map<std::string, ChangeRules, std::less<>>;

// Limits of the rules of one monitor, each named in the 422 of what is over it.
inline constexpr std::size_t kRulePatternCharsMax = 500;
inline constexpr std::size_t kRulePatternsMax = 16;  // of a monitor, conditions included
// A longer text is compared as it is, and fulfils no pattern.
inline constexpr std::size_t kRuleTextBytesMax = 32768;

// What is wrong with a pattern of what does not count, as a sentence; nothing where it is sound.
std::optional<std::string> IgnoredPatternFault(const std::string& pattern);
// One pattern for several of them, and whether it is not more than one may be.
std::string AnyOfPatterns(const std::vector<std::string>& patterns);
bool GoTogether(const std::vector<std::string>& patterns);

// What is wrong with `rules`, which stands at `loc`; every fault names its field and its rule.
// `watched`: the struct whose fields may have rules; null: any field may.
std::vector<ValidationFault> ValidateChangeRules(const base::Json& loc, const base::Json& rules,
                                                 const base::Json& watched);

// Reads rules that were validated, as a monitor keeps them; none where there is no text.
RulesOfFields ParseChangeRules(const std::optional<std::string>& json);

// `rules` (an object) without those of fields that `watched` does not have.
base::Json RulesOfWatched(const base::Json& rules, const base::Json& watched);

// The number that a value is, or that its text is.
std::optional<double> NumberOf(const base::Json& value);

// Whether two texts differ only in what the field's rules ignore. False for other values.
bool SameButIgnored(const ChangeRules& rules, const base::Json& a, const base::Json& b);

// What becomes of a value that is not the one that was told last.
enum class Telling {
  kTold,      // an event tells it
  kTooSmall,  // below a threshold: the next value is measured against the one that was told last
  kLeftOut,   // only_if does not hold: nobody is told, and the next value is compared with this one
};
// `told` is what was told last. An absent value is below no threshold and fulfils no condition.
Telling DecideTelling(const ChangeRules& rules, const base::Json& told, const base::Json& value);

}  // namespace vedette::domain
