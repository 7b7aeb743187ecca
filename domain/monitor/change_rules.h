#pragma once

#include <cstddef>
#include <functional>
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
// Patterns are RE2's: the time of one search is linear in the text, also for hostile ones, and
// searches are counted (RuleWork). Pure; any thread.
namespace re2 {
class RE2;
}

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

// What the patterns of one check may cost: the bytes that each search may have to look at, times
// the pattern's program size. A step takes about 3.5 ns where RE2's automaton does not fit its
// cache, 7 seconds in all, and a thirtieth of that elsewhere. What goes beyond is treated as a text
// that is too long.
inline constexpr std::size_t kRuleWorkMax = 2'000'000'000;

class RuleWork {
 public:
  // Counts a search of `bytes` by a program of `program_size`. False, and nothing is counted, where
  // it goes beyond kRuleWorkMax.
  bool Take(std::size_t bytes, int program_size);

 private:
  std::size_t left_ = kRuleWorkMax;
};

// What is wrong with a pattern of what does not count, as a sentence; nothing where it is sound.
std::optional<std::string> IgnoredPatternFault(const std::string& pattern);
// One pattern for several of them, and whether it is not more than one may be.
std::string AnyOfPatterns(const std::vector<std::string>& patterns);
bool GoTogether(const std::vector<std::string>& patterns);

// `text` without what matches, in one pass. Each search may look at all of the text that is left,
// also where its match is short: `may_search` is asked before, with these bytes; nothing once it
// says no.
std::optional<std::string> WithoutMatches(const re2::RE2& pattern, std::string_view text,
                                          const std::function<bool(std::size_t bytes)>& may_search);

// What is wrong with `rules`, which stands at `loc`; every fault names its field and its rule.
// `watched`: the struct whose fields may have rules; null: any field may.
std::vector<ValidationFault> ValidateChangeRules(const base::Json& loc, const base::Json& rules,
                                                 const base::Json& watched);

// Whether comparing a value may search for patterns, which takes long enough for a thread of its
// own.
bool HavePatterns(const RulesOfFields& rules);

// Reads rules that were validated, as a monitor keeps them; none where there is no text.
RulesOfFields ParseChangeRules(const std::optional<std::string>& json);

// `rules` (an object) without those of fields that `watched` does not have.
base::Json RulesOfWatched(const base::Json& rules, const base::Json& watched);

// The number that a value is, or that its text is.
std::optional<double> NumberOf(const base::Json& value);

// Whether two texts differ only in what the field's rules ignore. False for other values.
bool SameButIgnored(const ChangeRules& rules, const base::Json& a, const base::Json& b,
                    RuleWork* work);

// What becomes of a value that is not the one that was told last.
enum class Telling {
  kTold,      // an event tells it
  kTooSmall,  // below a threshold: the next value is measured against the one that was told last
  kLeftOut,   // only_if does not hold: nobody is told, and the next value is compared with this one
};
// `told` is what was told last. An absent value is below no threshold and fulfils no condition.
Telling DecideTelling(const ChangeRules& rules, const base::Json& told, const base::Json& value,
                      RuleWork* work);

}  // namespace vedette::domain
