#include "worker/checks/verdict.h"

#include <cstdint>
#include <string_view>
#include <utility>

#include "base/text.h"

namespace vedette::worker {
namespace {

using base::Json;

const Json kNothing = Json::object();
// The bytes, about, of the names of fields in one sentence.
constexpr std::size_t kUnreadNamesBytesMax = 500;

using domain::NumberOf;

bool IsNoValue(const Json& value) {
  return value.is_null() ||
         (value.is_string() && base::FoldSpace(value.get_ref<const std::string&>()).empty());
}

// What is known of a field; empty before its first observation. A blank given as baseline is none,
// but an absence that was observed (then it stands in `known`) is.
const Json* KnownValue(const KnownValues& before, const std::string& field) {
  const Json& known = before.Current().Value();
  const auto it = known.find(field);
  return it == known.end() || (!before.known && IsNoValue(*it)) ? nullptr : &*it;
}

// Whether the values are one to the field's rules.
bool AreSame(const domain::ChangeRules& rules, const Json& a, const Json& b,
             domain::RuleWork* work) {
  return SameValue(a, b) || domain::SameButIgnored(rules, a, b, work);
}

int SeenBefore(const KnownValues& before, const std::string& field,
               const domain::ChangeRules& rules, const Json& value, domain::RuleWork* work) {
  if (!before.pending) return 0;
  const Json& pending = before.pending->Value();
  const auto it = pending.find(field);
  if (it == pending.end() || !AreSame(rules, (*it)["value"], value, work)) return 0;
  return (*it)["seen"].get<int>();
}

// What was told last of a field that has changed untold since then; else null.
const Json* ToldOf(const KnownValues& before, const std::string& field) {
  if (!before.pending) return nullptr;
  const Json& pending = before.pending->Value();
  const auto it = pending.find(field);
  if (it == pending.end()) return nullptr;
  const auto told = it->find("told");
  return told == it->end() ? nullptr : &*told;
}

// Collects what is decided field by field; objects are copied on the first write.
struct Writer {
  const KnownValues& before;
  Verdict verdict{};

  Json& Baseline() {
    if (!verdict.baseline) verdict.baseline = before.baseline.Value();
    return *verdict.baseline;
  }
  Json& Known() {
    if (!verdict.known) {
      // While `known` is as the baseline, first observations of this check belong to it too.
      verdict.known =
          before.known || !verdict.baseline ? before.Current().Value() : *verdict.baseline;
    }
    return *verdict.known;
  }
  Json& Pending() {
    if (!verdict.pending) verdict.pending = Json::object();
    return *verdict.pending;
  }

  void FirstValue(const std::string& field, const FieldObservation& observed) {
    Baseline()[field] = observed.value.Value();
    if (before.known || verdict.known) Known()[field] = observed.value.Value();
    verdict.seen[field] = observed;
    verdict.row_changed = true;
  }

  // An observed absence has to stand in `known`, where it counts as a value.
  void FirstAbsence(const std::string& field) {
    Baseline()[field] = nullptr;
    Known()[field] = nullptr;
    verdict.seen[field] = std::nullopt;
    verdict.row_changed = true;
  }

  void Know(const std::string& field, const FieldObservation& seen) {
    Known()[field] = seen.value.Value();
    verdict.seen[field] = seen;
    verdict.row_changed = true;
  }

  void Change(const std::string& field, const Json& previous, const FieldObservation& seen) {
    Know(field, seen);
    verdict.changes.push_back(
        {field, previous, seen.value.Value(), seen.evidence, seen.sources, seen.confidence});
    verdict.outcome = domain::Outcome::kChanged;
  }

  // `value` was seen `times` and is not known yet.
  void Confirm(const std::string& field, const Json& value, int times) {
    Pending()[field]["value"] = value;
    Pending()[field]["seen"] = times;
    if (const Json* told = ToldOf(before, field)) Pending()[field]["told"] = *told;
  }

  // Nothing is being confirmed, and something else than what is known was told last.
  void KeepTold(const std::string& field, const Json& told) {
    Pending()[field] = {{"value", nullptr}, {"seen", 0}, {"told", told}};
  }
};

// What becomes of a new value that was seen often enough.
void Settle(const std::string& field, const domain::ChangeRules& rules, const Json& known,
            const FieldObservation& seen, domain::RuleWork* work, Writer* writer) {
  using domain::Telling;
  const Json* untold = ToldOf(writer->before, field);
  const Json& told = untold != nullptr ? *untold : known;
  if (untold != nullptr && SameValue(told, seen.value.Value())) return writer->Know(field, seen);
  switch (domain::DecideTelling(rules, told, seen.value.Value(), work)) {
    case Telling::kTold:
      return writer->Change(field, told, seen);
    case Telling::kTooSmall:
      writer->KeepTold(field, told);
      [[fallthrough]];
    case Telling::kLeftOut:
      return writer->Know(field, seen);
  }
}

void DecideField(const std::string& field, const VerdictRules& rules, const FieldObservation& seen,
                 domain::RuleWork* work, Writer* writer) {
  static const domain::ChangeRules kNoRules;
  const domain::ChangeRules* own = &kNoRules;
  if (rules.of_fields != nullptr) {
    if (const auto it = rules.of_fields->find(field); it != rules.of_fields->end()) {
      own = &it->second;
    }
  }
  const Json* known = KnownValue(writer->before, field);
  if (known != nullptr && AreSame(*own, *known, seen.value.Value(), work)) {
    if (const Json* told = ToldOf(writer->before, field)) writer->KeepTold(field, *told);
    return;
  }
  const bool absent = IsNoValue(seen.value.Value());
  if (known == nullptr && !absent) {
    writer->FirstValue(field, seen);
    return;
  }
  const int needed = absent ? rules.missing_confirmations : rules.confirm_after;
  const int times = SeenBefore(writer->before, field, *own, seen.value.Value(), work) + 1;
  if (times < needed) {
    writer->Confirm(field, seen.value.Value(), times);
  } else if (known != nullptr) {
    Settle(field, *own, *known, seen, work, writer);
  } else {
    writer->FirstAbsence(field);
  }
}

// Whether a field that has no value now has never had one.
bool NeverHadOne(const KnownValues& before, const std::string& field) {
  for (const base::JsonText* values : {&before.baseline, &before.Current()}) {
    const auto it = values->Value().find(field);
    if (it != values->Value().end() && !IsNoValue(*it)) return false;
  }
  return true;
}

std::string SentenceOf(const ProbeFailure& failure) {
  return failure.error_class + ": " + failure.message;
}

// The sentence about the first field that could not be read, with the names of the others; nothing
// without any.
std::optional<std::string> UnreadSentence(const std::vector<WatchedField>& watched,
                                          const std::map<std::string, ProbeFailure>& unread) {
  std::optional<std::string> sentence;
  std::string others;
  for (const WatchedField& field : watched) {
    const auto it = unread.find(field.name);
    if (it == unread.end()) continue;
    if (!sentence) {
      sentence = SentenceOf(it->second);
    } else if (others.size() < kUnreadNamesBytesMax) {
      others += (others.empty() ? "'" : ", '") + field.name + '\'';
    }
  }
  if (!others.empty()) *sentence += " Nor can be read: " + others + '.';
  return sentence;
}

}  // namespace

bool SameValue(const Json& a, const Json& b) {
  if (IsNoValue(a) || IsNoValue(b)) return IsNoValue(a) && IsNoValue(b);
  if (a.is_number_integer() && b.is_number_integer()) {
    // Ids may exceed what a double holds; -1 and 2^64 - 1 have the same bits.
    const auto negative = [](const Json& v) {
      return !v.is_number_unsigned() && v.get<std::int64_t>() < 0;
    };
    return negative(a) == negative(b) && a == b;
  }
  if (a.is_number() || b.is_number()) {
    const auto x = NumberOf(a);
    const auto y = NumberOf(b);
    return x && y && *x == *y;
  }
  if (a.is_string() && b.is_string()) {
    const auto& x = a.get_ref<const std::string&>();
    const auto& y = b.get_ref<const std::string&>();
    return x == y || base::FoldSpace(x) == base::FoldSpace(y);
  }
  return a == b;
}

Verdict DecideVerdict(const std::vector<WatchedField>& watched, const VerdictRules& rules,
                      const KnownValues& before, const ProbeResult& result) {
  Writer writer{before};
  domain::RuleWork work;
  if (const auto* failure = std::get_if<ProbeFailure>(&result)) {
    writer.verdict.outcome = domain::Outcome::kFailed;
    writer.verdict.error = SentenceOf(*failure);
    return std::move(writer.verdict);
  }
  const auto& seen = std::get<Observation>(result);
  const auto& fields = seen.fields;
  const auto& unread = seen.unread;
  writer.verdict.error = UnreadSentence(watched, unread);
  const Json& pending = before.pending ? before.pending->Value() : kNothing;
  for (const WatchedField& field : watched) {
    const auto it = fields.find(field.name);
    const bool missed =
        it == fields.end() ? unread.contains(field.name) : IsNoValue(it->second.value.Value());
    if (missed && NeverHadOne(before, field.name)) ++writer.verdict.never_observed;
    if (it != fields.end()) {
      DecideField(field.name, rules, it->second, &work, &writer);
    } else if (pending.contains(field.name)) {
      writer.Pending()[field.name] = pending[field.name];  // not observed: it waits on
    }
  }
  Verdict& verdict = writer.verdict;
  if (verdict.pending ? pending != *verdict.pending : !pending.empty()) {
    verdict.row_changed = true;
  }
  if (before.forgets && verdict.row_changed) {
    writer.Baseline();
    if (before.known) writer.Known();
  }
  return std::move(verdict);
}

}  // namespace vedette::worker
