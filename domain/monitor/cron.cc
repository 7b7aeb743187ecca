#include "domain/monitor/clock_schedule.h"

#include <fmt/format.h>

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "base/text.h"

namespace vedette::domain {

namespace {

constexpr std::size_t kCharsMax = 256;

constexpr std::array<std::string_view, 12> kMonths{"jan", "feb", "mar", "apr", "may", "jun",
                                                   "jul", "aug", "sep", "oct", "nov", "dec"};
constexpr std::array<std::string_view, 7> kWeekdays{"sun", "mon", "tue", "wed",
                                                    "thu", "fri", "sat"};

struct FieldRule {
  std::string_view name;
  int least;
  int most;
  std::span<const std::string_view> names{};  // of least, and so on
};
constexpr FieldRule kMinute{"minute", 0, 59};
constexpr FieldRule kHour{"hour", 0, 23};
constexpr FieldRule kDay{"day of month", 1, 31};
constexpr FieldRule kMonth{"month", 1, 12, kMonths};
constexpr FieldRule kWeekday{"day of week", 0, 7, kWeekdays};

struct Macro {
  std::string_view name;
  std::string_view text;
};
constexpr std::array kMacros{Macro{"@hourly", "0 * * * *"},   Macro{"@daily", "0 0 * * *"},
                             Macro{"@midnight", "0 0 * * *"}, Macro{"@weekly", "0 0 * * 0"},
                             Macro{"@monthly", "0 0 1 * *"},  Macro{"@yearly", "0 0 1 1 *"},
                             Macro{"@annually", "0 0 1 1 *"}};

std::vector<std::string_view> Split(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> parts;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find_first_of(separators, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

std::vector<std::string_view> Words(std::string_view text) {
  std::vector<std::string_view> words;
  for (const std::string_view word : Split(text, " \t")) {
    if (!word.empty()) words.push_back(word);
  }
  return words;
}

// Thrown inside Parse alone, with the sentence.
struct Wrong {
  std::string sentence;
};

std::optional<int> Number(std::string_view text) {
  if (text.empty() || text.size() > 4) return std::nullopt;
  int number = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    number = number * 10 + (c - '0');
  }
  return number;
}

// `item`: of the field's list, which the text is of.
int Value(const FieldRule& rule, std::string_view text, std::string_view item) {
  for (std::size_t i = 0; i < rule.names.size(); ++i) {
    if (text == rule.names[i]) return rule.least + static_cast<int>(i);
  }
  const auto number = Number(text);
  if (!number) {
    throw Wrong{
        fmt::format("the {} \"{}\" is not a number{}, \"*\", a range such as {}-{} or a step",
                    rule.name, item, rule.names.empty() ? "" : ", a name", rule.least, rule.most)};
  }
  if (*number < rule.least || *number > rule.most) {
    throw Wrong{fmt::format("the {} {} is not between {} and {}", rule.name, *number, rule.least,
                            rule.most)};
  }
  return *number;
}

struct Range {
  int first;
  int last;
  int step = 1;
};

Range ReadRange(const FieldRule& rule, std::string_view item) {
  const std::size_t slash = item.find('/');
  const std::string_view what = item.substr(0, slash);
  const std::size_t dash = what.find('-');
  Range range{rule.least, rule.most};
  if (what != "*") {
    range.first = Value(rule, what.substr(0, dash), item);
    range.last =
        dash == std::string_view::npos ? range.first : Value(rule, what.substr(dash + 1), item);
    // Sunday ends a week as well as it begins one.
    if (&rule == &kWeekday && range.last == 0 && range.first > 0) range.last = 7;
  }
  if (range.first > range.last) {
    throw Wrong{fmt::format("the {} {} ends before it begins", rule.name, what)};
  }
  if (slash == std::string_view::npos) return range;
  const auto step = Number(item.substr(slash + 1));
  if (!step || *step < 1 || *step > rule.most) {
    throw Wrong{fmt::format("the step of the {} {} is not a number from 1 to {}", rule.name, item,
                            rule.most)};
  }
  if (what != "*" && dash == std::string_view::npos) {
    throw Wrong{fmt::format("the {} {} has a step without a range: write {}-{}/{}", rule.name, item,
                            what, rule.most, *step)};
  }
  range.step = *step;
  return range;
}

// Gives `set` every number of a field's list; `special` takes the items that are none.
template <typename Set, typename Special>
void ReadField(const FieldRule& rule, std::string_view text, const Set& set,
               const Special& special) {
  for (const std::string_view item : Split(text, ",")) {
    if (item.empty()) throw Wrong{fmt::format("the {} \"{}\" has an empty item", rule.name, text)};
    if (special(item)) continue;
    const Range range = ReadRange(rule, item);
    for (int n = range.first; n <= range.last; n += range.step) set(n);
  }
}

constexpr auto kNothingSpecial = [](std::string_view) { return false; };

}  // namespace

// Fills an expression from the words of its fields.
class CronReader {
 public:
  static CronExpression Read(const std::vector<std::string_view>& words) {
    CronExpression cron;
    const auto into = [](auto* set) {
      return [set](int n) { set->set(static_cast<std::size_t>(n)); };
    };
    ReadField(kMinute, words[0], into(&cron.minutes_), kNothingSpecial);
    ReadField(kHour, words[1], into(&cron.hours_), kNothingSpecial);
    ReadField(kDay, words[2], into(&cron.days_), [&](std::string_view item) {
      if (item == "l") cron.last_day_ = true;
      return item == "l";
    });
    ReadField(kMonth, words[3], into(&cron.months_), kNothingSpecial);
    ReadField(
        kWeekday, words[4], [&](int n) { cron.weekdays_.set(static_cast<std::size_t>(n % 7)); },
        [&](std::string_view item) { return ReadNth(item, &cron); });
    cron.elapsed_ = words[1].starts_with('*') || words[1].find('/') != std::string_view::npos;
    const bool either = !words[2].starts_with('*') && !words[4].starts_with('*');
    cron.join_ = either ? CronExpression::Join::kEither : CronExpression::Join::kBoth;
    return cron;
  }

 private:
  // `fri#2`.
  static bool ReadNth(std::string_view item, CronExpression* cron) {
    const std::size_t hash = item.find('#');
    if (hash == std::string_view::npos) return false;
    const auto weekday = static_cast<std::size_t>(Value(kWeekday, item.substr(0, hash), item) % 7);
    const auto nth = Number(item.substr(hash + 1));
    if (!nth || *nth < 1 || *nth > 5) {
      throw Wrong{fmt::format("the day of week {}: a month has the 1st to the 5th of one", item)};
    }
    cron->nth_weekdays_[weekday].set(static_cast<std::size_t>(*nth));
    return true;
  }
};

std::variant<CronExpression, std::string> CronExpression::Parse(std::string_view text) {
  if (text.size() > kCharsMax) {
    return fmt::format("an expression has at most {} characters", kCharsMax);
  }
  const std::string lower = base::AsciiLower(text);
  std::vector<std::string_view> words = Words(lower);
  if (words.size() == 1 && words[0].starts_with('@')) {
    for (const Macro& macro : kMacros) {
      if (words[0] == macro.name) return CronReader::Read(Words(macro.text));
    }
    return fmt::format("{} is not one of @hourly, @daily, @midnight, @weekly and @monthly",
                       base::CutCharacters(words[0], 40));
  }
  if (words.size() != 5) {
    return fmt::format(
        "an expression has five fields (minute, hour, day of month, month, day of week), and this "
        "has {}",
        words.size());
  }
  try {
    return CronReader::Read(words);
  } catch (const Wrong& wrong) {
    return wrong.sentence;
  }
}

bool CronExpression::MatchesDay(std::chrono::year_month_day day) const {
  using std::chrono::days;
  using std::chrono::sys_days;
  if (!months_.test(static_cast<unsigned>(day.month()))) return false;
  const unsigned of_month = static_cast<unsigned>(day.day());
  const bool is_last =
      (std::chrono::year_month_day(sys_days(day) + days(1))).month() != day.month();
  const unsigned weekday = std::chrono::weekday(sys_days(day)).c_encoding();
  const bool fits_month = days_.test(of_month) || (last_day_ && is_last);
  const bool fits_week =
      weekdays_.test(weekday) || nth_weekdays_.at(weekday).test((of_month - 1) / 7 + 1);
  return join_ == Join::kEither ? fits_month || fits_week : fits_month && fits_week;
}

}  // namespace vedette::domain
