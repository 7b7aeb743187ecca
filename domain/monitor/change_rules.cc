#include "domain/monitor/change_rules.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <utility>

#include "base/json.h"
#include "base/text.h"
#include "domain/text/json_schema.h"

namespace vedette::domain {
namespace {

using base::Json;

// The memory of one compiled pattern: far more than what its length allows to be useful.
constexpr std::int64_t kPatternMemoryMax = 1 << 20;
// Two numbers that differ by a threshold as people write them: 0.3 - 0.2 counts as 0.1.
constexpr double kRounding = 1e-9;

RE2::Options PatternOptions() {
  RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(kPatternMemoryMax);
  return options;
}

// The text that rules look at, folded as comparisons fold it; nothing where there is none, or where
// it is too long to be examined.
std::optional<std::string> TextOf(const Json& value) {
  if (!value.is_string())
    return value.is_null() ? std::nullopt : std::optional(base::DumpJson(value));
  std::string text = base::FoldSpace(value.get_ref<const std::string&>());
  if (text.empty() || text.size() > kRuleTextBytesMax) return std::nullopt;
  return text;
}

// The number of a body, which may be kept as it was written.
std::optional<double> GivenNumber(const Json& value) {
  const auto text = base::NumberText(value);
  return NumberOf(text ? Json(std::string(*text)) : value.is_number() ? value : Json(nullptr));
}

// What is wrong with any pattern, as a sentence.
std::optional<std::string> PatternFault(const std::string& pattern) {
  if (pattern.empty() || base::CountCharacters(pattern) > kRulePatternCharsMax) {
    return fmt::format("A pattern has 1 to {} characters", kRulePatternCharsMax);
  }
  const RE2 compiled(pattern, PatternOptions());
  if (compiled.ok()) return std::nullopt;
  return "It is no regular expression of RE2: " + compiled.error();
}

// Nothing where it would be too much work.
std::optional<bool> Finds(const std::string& pattern, const std::string& text, RuleWork* work) {
  const RE2 compiled(pattern, PatternOptions());
  if (!work->Take(text.size(), compiled.ProgramSize())) return std::nullopt;
  return RE2::PartialMatch(text, compiled);
}

// Nothing where it would be too much work.
std::optional<std::string> Without(const RE2& ignored, const std::string& text, RuleWork* work) {
  const auto left = WithoutMatches(
      ignored, text, [&](std::size_t bytes) { return work->Take(bytes, ignored.ProgramSize()); });
  return left ? std::optional(base::FoldSpace(*left)) : std::nullopt;
}

bool Holds(const ChangeRules& rules, const Json& value, RuleWork* work) {
  if (rules.above || rules.below) {
    const auto number = NumberOf(value);
    if (!number) return false;
    if (rules.above && !(*number > *rules.above)) return false;
    if (rules.below && !(*number < *rules.below)) return false;
  }
  if (rules.matches || rules.not_matches) {
    const auto text = TextOf(value);
    if (!text) return false;
    if (rules.matches && Finds(*rules.matches, *text, work) != true) return false;
    if (rules.not_matches && Finds(*rules.not_matches, *text, work) != false) return false;
  }
  return true;
}

bool BelowThreshold(const ChangeRules& rules, const Json& told, const Json& value) {
  if (!rules.absolute && !rules.percent) return false;
  const auto before = NumberOf(told);
  const auto now = NumberOf(value);
  if (!before || !now) return false;
  const double moved =
      std::abs(*now - *before) + kRounding * std::max(std::abs(*now), std::abs(*before));
  return (rules.absolute && moved < *rules.absolute) ||
         (rules.percent && moved < std::abs(*before) * *rules.percent / 100);
}

// Reads the rules one by one. Every fault says in its sentence which field and which rule it is of.
class RulesValidator {
 public:
  RulesValidator(Json loc, ValidationFaults* faults) : loc_(std::move(loc)), faults_(faults) {}

  void Field(const std::string& field, const Json& rules, const Json& watched) {
    field_ = field;
    if (!watched.is_null() && !watched.contains(field)) {
      return Wrong({}, "unknown_field", "struct has no such field", nullptr);
    }
    if (!rules.is_object()) return Wrong({}, "dict_type", "Input should be an object", rules);
    for (const auto& [name, rule] : rules.items()) {
      if (name == "only_if") {
        Members(name, rule, {"above", "below", "matches", "not_matches"});
      } else if (name == "threshold") {
        Members(name, rule, {"absolute", "percent"});
      } else if (name == "ignore") {
        Ignore(rule);
      } else {
        Wrong({name}, "extra_forbidden", "There is no such rule: only_if, threshold, ignore", rule);
      }
    }
  }

  void Count() {
    if (patterns_ <= kRulePatternsMax) return;
    faults_->push_back({loc_,
                        "too_long",
                        fmt::format("rules should have at most {} patterns in all, has {}",
                                    kRulePatternsMax, patterns_),
                        nullptr,
                        {{"max_length", kRulePatternsMax}}});
  }

 private:
  using Path = std::vector<Json>;

  void Wrong(const Path& path, std::string type, const std::string& sentence, Json input) {
    Json loc = loc_;
    loc.push_back(base::CutCharacters(field_, kNameCharsShown));
    std::string rule;
    for (const Json& step : path) {
      rule +=
          (rule.empty() ? "" : ".") + (step.is_string() ? step.get<std::string>() : step.dump());
      loc.push_back(step);
    }
    std::string msg = "The field '" + base::CutCharacters(field_, kNameCharsShown) + "'";
    if (!rule.empty()) msg += ", rule " + base::CutCharacters(rule, kNameCharsShown);
    faults_->push_back(
        {std::move(loc), std::move(type), msg + ": " + sentence, std::move(input), nullptr});
  }

  void Members(const std::string& rule, const Json& given,
               const std::vector<std::string_view>& known) {
    if (!given.is_object() || given.empty()) {
      return Wrong({rule}, "dict_type", "Input should be an object with at least one member",
                   given);
    }
    for (const auto& [name, value] : given.items()) {
      if (std::find(known.begin(), known.end(), name) == known.end()) {
        Wrong({rule, name}, "extra_forbidden", "There is no such member", value);
      } else if (name == "matches" || name == "not_matches") {
        Pattern({rule, name}, value);
      } else {
        Number({rule, name}, value, rule == "threshold");
      }
    }
    const auto above = GivenNumber(given.value("above", Json()));
    const auto below = GivenNumber(given.value("below", Json()));
    if (above && below && *above >= *below) {
      Wrong({rule}, "value_error",
            fmt::format("No number is above {} and below {}", *above, *below), given);
    }
  }

  void Number(const Path& path, const Json& value, bool positive) {
    const auto number = GivenNumber(value);
    if (!number) return Wrong(path, "number_type", "Input should be a number", value);
    if (!positive || *number > 0) return;
    Wrong(path, "greater_than", "Input should be greater than 0", value);
  }

  void Ignore(const Json& patterns) {
    if (!patterns.is_array() || patterns.empty()) {
      return Wrong({"ignore"}, "list_type", "Input should be a list of patterns", patterns);
    }
    if (patterns.size() > kRulePatternsMax) {
      patterns_ += patterns.size();
      return;
    }
    const std::size_t faults = faults_->size();
    for (std::size_t i = 0; i < patterns.size(); ++i) Pattern({"ignore", i}, patterns[i]);
    if (faults_->size() > faults) return;
    if (!GoTogether(patterns.get<std::vector<std::string>>())) {
      Wrong({"ignore"}, "pattern", "The patterns are too much together", patterns);
    }
  }

  void Pattern(const Path& path, const Json& given) {
    ++patterns_;
    if (!given.is_string()) {
      return Wrong(path, "string_type", "Input should be a regular expression", given);
    }
    const auto& pattern = given.get_ref<const std::string&>();
    if (pattern.empty() || base::CountCharacters(pattern) > kRulePatternCharsMax) {
      return Wrong(path, pattern.empty() ? "string_too_short" : "string_too_long",
                   fmt::format("A pattern has 1 to {} characters", kRulePatternCharsMax), given);
    }
    const auto fault =
        path.front() == "ignore" ? IgnoredPatternFault(pattern) : PatternFault(pattern);
    if (fault) Wrong(path, "pattern", *fault, given);
  }

  static constexpr std::size_t kNameCharsShown = 100;

  const Json loc_;
  ValidationFaults* const faults_;
  std::string field_;
  std::size_t patterns_ = 0;
};

template <typename T>
void Take(const Json& object, const char* name, std::optional<T>* out) {
  const auto it = object.find(name);
  if (it != object.end()) *out = it->template get<T>();
}

ChangeRules ParseRules(const Json& given) {
  ChangeRules rules;
  if (const auto only_if = given.find("only_if"); only_if != given.end()) {
    Take(*only_if, "above", &rules.above);
    Take(*only_if, "below", &rules.below);
    Take(*only_if, "matches", &rules.matches);
    Take(*only_if, "not_matches", &rules.not_matches);
  }
  if (const auto threshold = given.find("threshold"); threshold != given.end()) {
    Take(*threshold, "absolute", &rules.absolute);
    Take(*threshold, "percent", &rules.percent);
  }
  if (const auto ignore = given.find("ignore"); ignore != given.end()) {
    rules.ignore = ignore->get<std::vector<std::string>>();
  }
  return rules;
}

}  // namespace

std::optional<std::string> IgnoredPatternFault(const std::string& pattern) {
  if (auto fault = PatternFault(pattern)) return fault;
  if (!RE2::FullMatch("", RE2(pattern, PatternOptions()))) return std::nullopt;
  return "It matches the empty text, and would ignore nothing or everything";
}

std::string AnyOfPatterns(const std::vector<std::string>& patterns) {
  std::string any;
  for (const std::string& pattern : patterns) {
    any += (any.empty() ? "(?:" : "|(?:") + pattern + ")";
  }
  return any;
}

bool GoTogether(const std::vector<std::string>& patterns) {
  return RE2(AnyOfPatterns(patterns), PatternOptions()).ok();
}

bool RuleWork::Take(std::size_t bytes, int program_size) {
  const auto size = static_cast<std::size_t>(std::max(program_size, 1));
  if (bytes > left_ / size) return false;
  left_ -= bytes * size;
  return true;
}

std::optional<std::string> WithoutMatches(
    const RE2& pattern, std::string_view text,
    const std::function<bool(std::size_t bytes)>& may_search) {
  std::string left;
  std::size_t taken = 0;  // of the text
  std::size_t at = 0;
  re2::StringPiece match;
  while (at <= text.size()) {
    if (!may_search(text.size() - at)) return std::nullopt;
    if (!pattern.Match(text, at, text.size(), RE2::UNANCHORED, &match, 1)) break;
    const auto begin = static_cast<std::size_t>(match.data() - text.data());
    left.append(text, taken, begin - taken);
    taken = begin + match.size();
    at = taken;
    if (!match.empty()) continue;
    do ++at;
    while (at < text.size() && base::ContinuesCharacter(text[at]));
  }
  left.append(text, taken, text.size() - taken);
  return left;
}

bool HavePatterns(const RulesOfFields& rules) {
  return std::any_of(rules.begin(), rules.end(), [](const auto& field) {
    const ChangeRules& own = field.second;
    return own.matches || own.not_matches || !own.ignore.empty();
  });
}

ValidationFaults ValidateChangeRules(const Json& loc, const Json& rules, const Json& watched) {
  ValidationFaults faults;
  if (!rules.is_object()) {
    faults.push_back({loc, "dict_type", "Input should be an object: field -> rules", rules});
    return faults;
  }
  RulesValidator validator(loc, &faults);
  for (const auto& [field, of_field] : rules.items()) validator.Field(field, of_field, watched);
  validator.Count();
  return faults;
}

RulesOfFields ParseChangeRules(const std::optional<std::string>& json) {
  RulesOfFields rules;
  if (!json) return rules;
  const Json object = base::ParseJsonOrThrow(*json);
  for (const auto& [field, given] : object.items()) rules.emplace(field, ParseRules(given));
  return rules;
}

Json RulesOfWatched(const Json& rules, const Json& watched) {
  Json kept = Json::object();
  for (const auto& [field, given] : rules.items()) {
    if (watched.contains(field)) kept[field] = given;
  }
  return kept;
}

std::optional<double> NumberOf(const Json& value) {
  if (value.is_number()) return value.get<double>();
  if (!value.is_string()) return std::nullopt;
  const std::string text = base::FoldSpace(value.get_ref<const std::string&>());
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

bool SameButIgnored(const ChangeRules& rules, const Json& a, const Json& b, RuleWork* work) {
  if (rules.ignore.empty() || !a.is_string() || !b.is_string()) return false;
  const auto first = TextOf(a);
  const auto second = TextOf(b);
  if (!first || !second) return false;
  const RE2 ignored(AnyOfPatterns(rules.ignore), PatternOptions());
  if (!ignored.ok()) return false;
  const auto of_first = Without(ignored, *first, work);
  return of_first && of_first == Without(ignored, *second, work);
}

Telling DecideTelling(const ChangeRules& rules, const Json& told, const Json& value,
                      RuleWork* work) {
  if (BelowThreshold(rules, told, value)) return Telling::kTooSmall;
  return Holds(rules, value, work) ? Telling::kTold : Telling::kLeftOut;
}

}  // namespace vedette::domain
