#include "worker/checks/verdict.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace vedette::worker {
namespace {

using base::Json;
using domain::Outcome;

Json J(const std::string& text) {
  return base::ParseJsonOrThrow(text);
}

// What was observed, as an object; a field that is left out was not observed.
ProbeResult Seen(const std::string& values) {
  Observation observation;
  const Json object = J(values);
  for (const auto& [field, value] : object.items()) {
    observation.fields[field] = {
        value, "evidence of " + field, {"https://e.example/" + field}, 7.5};
  }
  return observation;
}

// A row that lives from check to check, as the store keeps it: a column that the verdict leaves
// empty keeps its value, `pending` is always written when the row is.
class VerdictTest : public testing::Test {
 protected:
  void Given(const std::string& baseline, VerdictRules rules = {}) {
    row_ = {J(baseline), std::nullopt, std::nullopt};
    rules_ = rules;
  }

  Verdict Check(const ProbeResult& result) {
    Verdict verdict = DecideVerdict(watched_, rules_, row_, result);
    if (verdict.row_changed) {
      if (verdict.baseline) row_.baseline = *verdict.baseline;
      if (verdict.known) row_.known = *verdict.known;
      row_.pending.reset();
      if (verdict.pending) row_.pending = *verdict.pending;
    }
    return verdict;
  }
  Verdict Check(const std::string& values) { return Check(Seen(values)); }

  // The changes as "field: previous -> current", in order.
  static std::vector<std::string> Changes(const Verdict& verdict) {
    std::vector<std::string> out;
    for (const FieldChange& c : verdict.changes) {
      out.push_back(c.field + ": " + c.previous_value.dump() + " -> " + c.current_value.dump());
    }
    EXPECT_EQ(out.empty(), verdict.outcome != Outcome::kChanged);
    return out;
  }

  std::string Known() const { return row_.Current().Text(); }
  std::string Pending() const { return row_.pending ? row_.pending->Text() : ""; }

  std::vector<WatchedField> watched_ = {{"a", "css:.a"}, {"b", "css:.b"}, {"c", "css:.c"}};
  VerdictRules rules_;
  KnownValues row_;
};

using Strings = std::vector<std::string>;

TEST_F(VerdictTest, TheSameValuesAreUnchangedAndWriteNothing) {
  Given(R"({"a":"x","b":2})");
  const Verdict verdict = Check(R"({"a":"x","b":2})");
  EXPECT_EQ(verdict.outcome, Outcome::kUnchanged);
  EXPECT_FALSE(verdict.row_changed);
  EXPECT_FALSE(verdict.error.has_value());
}

TEST_F(VerdictTest, ANewValueIsAChangeWithItsEvidence) {
  Given(R"({"a":"x"})");
  const Verdict verdict = Check(R"({"a":"y"})");
  EXPECT_EQ(Changes(verdict), (Strings{R"(a: "x" -> "y")"}));
  EXPECT_EQ(verdict.changes[0].evidence, "evidence of a");
  EXPECT_EQ(verdict.changes[0].sources, (Strings{"https://e.example/a"}));
  EXPECT_EQ(verdict.changes[0].confidence, 7.5);
  EXPECT_EQ(Known(), R"({"a":"y"})");
  EXPECT_EQ(row_.baseline.Text(), R"({"a":"x"})") << "the baseline shows what was given";
  EXPECT_EQ(Changes(Check(R"({"a":"z"})")), (Strings{R"(a: "y" -> "z")"}));
  EXPECT_EQ(Changes(Check(R"({"a":"z"})")), Strings{});
}

TEST_F(VerdictTest, WhatWasSeenOfANewValueIsKeptWithIt) {
  Given(R"({"a":"1","b":"1"})", {.confirm_after = 1, .missing_confirmations = 1});
  const Verdict verdict = Check(R"({"a":"2","b":"1","c":"3"})");
  ASSERT_EQ(verdict.seen.size(), 2U) << "b is as it was";
  EXPECT_EQ(verdict.seen.at("a")->evidence, "evidence of a");
  EXPECT_EQ(verdict.seen.at("c")->value.Value(), "3");
  EXPECT_EQ(Check(R"({"a":null})").seen.at("a")->value.Value(), nullptr);
}

TEST_F(VerdictTest, NothingIsKeptOfAFieldThatWasNeverThere) {
  Given("{}", {.confirm_after = 1, .missing_confirmations = 1});
  EXPECT_EQ(Check(R"({"a":null})").seen.at("a"), std::nullopt);
}

TEST_F(VerdictTest, ARowThatForgetsIsWrittenWithoutWhatIsForgotten) {
  Given(R"({"b":"1"})");
  row_.known = J(R"({"b":"1"})");
  row_.forgets = true;
  EXPECT_FALSE(Check(R"({"b":"1"})").row_changed);
  const Verdict verdict = Check(R"({"b":"2"})");
  ASSERT_TRUE(verdict.baseline);
  EXPECT_EQ(base::DumpJson(*verdict.baseline), R"({"b":"1"})");
  EXPECT_EQ(base::DumpJson(*verdict.known), R"({"b":"2"})");
}

TEST_F(VerdictTest, AFirstObservationBecomesTheBaselineSilently) {
  Given("{}");
  const Verdict verdict = Check(R"({"a":"x"})");
  EXPECT_EQ(verdict.outcome, Outcome::kUnchanged);
  EXPECT_TRUE(verdict.row_changed);
  EXPECT_EQ(row_.baseline.Text(), R"({"a":"x"})");
  EXPECT_EQ(Changes(Check(R"({"a":"y"})")), (Strings{R"(a: "x" -> "y")"}));
  EXPECT_EQ(row_.baseline.Text(), R"({"a":"x"})") << "later observations never enter it";
}

TEST_F(VerdictTest, AFirstObservationIsSilentAlsoWhereConfirmationsAreAsked) {
  Given("{}", {.confirm_after = 3, .missing_confirmations = 2});
  EXPECT_EQ(Check(R"({"a":"x"})").outcome, Outcome::kUnchanged);
  EXPECT_EQ(row_.baseline.Text(), R"({"a":"x"})");
  EXPECT_EQ(Pending(), "");
}

// Whichever of the two comes first among the fields.
TEST_F(VerdictTest, AFirstObservationBesideAChangeIsKnownFromThenOn) {
  for (const auto& [fresh, given] : {std::pair("a", "b"), std::pair("b", "a")}) {
    SCOPED_TRACE(fresh);
    Given(Json{{given, "old"}}.dump());
    const Verdict verdict = Check(Json{{fresh, "first"}, {given, "new"}}.dump());
    EXPECT_EQ(Changes(verdict), (Strings{std::string(given) + R"(: "old" -> "new")"}));
    EXPECT_EQ(row_.baseline.Value()[fresh], "first");
    const Verdict next = Check(Json{{fresh, "second"}}.dump());
    EXPECT_EQ(Changes(next), (Strings{std::string(fresh) + R"(: "first" -> "second")"}));
    EXPECT_EQ(row_.baseline.Value()[fresh], "first");
  }
}

TEST_F(VerdictTest, WhatWasNotObservedIsNoChange) {
  Given(R"({"a":"x","b":"y"})");
  const Verdict verdict = Check(R"({"b":"y"})");
  EXPECT_EQ(verdict.outcome, Outcome::kUnchanged);
  EXPECT_FALSE(verdict.row_changed);
  EXPECT_EQ(Check("{}").outcome, Outcome::kUnchanged);
}

TEST_F(VerdictTest, AnAbsenceCountsOnceItWasSeenInAsManyChecksAsAsked) {
  Given(R"({"a":"x"})");
  const Verdict first = Check(R"({"a":null})");
  EXPECT_EQ(Changes(first), Strings{});
  EXPECT_EQ(Pending(), R"({"a":{"value":null,"seen":1}})");
  EXPECT_EQ(Changes(Check(R"({"a":null})")), (Strings{R"(a: "x" -> null)"}));
  EXPECT_EQ(Pending(), "");
  EXPECT_EQ(Changes(Check(R"({"a":null})")), Strings{}) << "once";
  EXPECT_EQ(Changes(Check(R"({"a":"x"})")), (Strings{R"(a: null -> "x")"}));
}

TEST_F(VerdictTest, OneMissIsEnoughWhereOneIsAsked) {
  Given(R"({"a":"x"})", {.confirm_after = 1, .missing_confirmations = 1});
  EXPECT_EQ(Changes(Check(R"({"a":null})")), (Strings{R"(a: "x" -> null)"}));
}

TEST_F(VerdictTest, ABlankIsAnAbsence) {
  Given(R"({"a":"x"})");
  EXPECT_EQ(Changes(Check(R"({"a":""})")), Strings{});
  EXPECT_EQ(Changes(Check(R"({"a":"  "})")).size(), 1U) << "confirmed by another kind of blank";
  EXPECT_EQ(Changes(Check(R"({"a":null})")), Strings{});
}

TEST_F(VerdictTest, AnAbsenceFromTheStartIsKnownOnceConfirmedAndAValueThenIsAChange) {
  Given("{}");
  EXPECT_EQ(Changes(Check(R"({"a":null})")), Strings{});
  EXPECT_EQ(row_.baseline.Text(), "{}");
  EXPECT_EQ(Pending(), R"({"a":{"value":null,"seen":1}})");
  EXPECT_EQ(Changes(Check(R"({"a":null})")), Strings{});
  EXPECT_EQ(row_.baseline.Text(), R"({"a":null})");
  EXPECT_EQ(Pending(), "");
  EXPECT_FALSE(Check(R"({"a":null})").row_changed);
  EXPECT_EQ(Changes(Check(R"({"a":"x"})")), (Strings{R"(a: null -> "x")"}));
}

TEST_F(VerdictTest, AnAbsenceFromTheStartThatIsNotConfirmedIsNoFirstObservation) {
  Given("{}");
  Check(R"({"a":null})");
  EXPECT_EQ(Changes(Check(R"({"a":"x"})")), Strings{});
  EXPECT_EQ(row_.baseline.Text(), R"({"a":"x"})");
  EXPECT_EQ(Pending(), "");
}

TEST_F(VerdictTest, ANewValueCountsOnceItWasSeenInAsManyChecksInARowAsAsked) {
  Given(R"({"a":"x"})", {.confirm_after = 3, .missing_confirmations = 2});
  EXPECT_EQ(Changes(Check(R"({"a":"y"})")), Strings{});
  EXPECT_EQ(Pending(), R"({"a":{"value":"y","seen":1}})");
  EXPECT_EQ(Changes(Check(R"({"a":"y"})")), Strings{});
  EXPECT_EQ(Pending(), R"({"a":{"value":"y","seen":2}})");
  EXPECT_EQ(Known(), R"({"a":"x"})");
  EXPECT_EQ(Changes(Check(R"({"a":"y"})")), (Strings{R"(a: "x" -> "y")"}));
  EXPECT_EQ(Pending(), "");
}

TEST_F(VerdictTest, AnotherValueStartsTheCountAnew) {
  Given(R"({"a":"x"})", {.confirm_after = 2, .missing_confirmations = 2});
  Check(R"({"a":"y"})");
  EXPECT_EQ(Changes(Check(R"({"a":"z"})")), Strings{});
  EXPECT_EQ(Pending(), R"({"a":{"value":"z","seen":1}})");
  EXPECT_EQ(Changes(Check(R"({"a":null})")), Strings{});
  EXPECT_EQ(Pending(), R"({"a":{"value":null,"seen":1}})");
  EXPECT_EQ(Changes(Check(R"({"a":"z"})")), Strings{});
  EXPECT_EQ(Changes(Check(R"({"a":" z "})")), (Strings{R"(a: "x" -> " z ")"}));
}

TEST_F(VerdictTest, TheKnownValueSeenAgainClearsWhatWasPending) {
  Given(R"({"a":"x"})", {.confirm_after = 2, .missing_confirmations = 2});
  Check(R"({"a":"y"})");
  const Verdict back = Check(R"({"a":"x"})");
  EXPECT_EQ(back.outcome, Outcome::kUnchanged);
  EXPECT_TRUE(back.row_changed);
  EXPECT_EQ(Pending(), "");
  EXPECT_EQ(Changes(Check(R"({"a":"y"})")), Strings{}) << "checks in a row";
}

TEST_F(VerdictTest, WhatIsPendingWaitsWhileItsFieldIsNotObserved) {
  Given(R"({"a":"x","b":"1"})", {.confirm_after = 2, .missing_confirmations = 2});
  Check(R"({"a":"y"})");
  EXPECT_FALSE(Check("{}").row_changed);
  EXPECT_FALSE(Check(R"({"b":"1"})").row_changed);
  EXPECT_EQ(Pending(), R"({"a":{"value":"y","seen":1}})");
  Check(R"({"b":"2"})");
  EXPECT_EQ(Pending(), R"({"a":{"value":"y","seen":1},"b":{"value":"2","seen":1}})");
  EXPECT_EQ(Changes(Check(R"({"a":"y","b":"2"})")),
            (Strings{R"(a: "x" -> "y")", R"(b: "1" -> "2")"}));
}

TEST_F(VerdictTest, G6AFailedCheckChangesNothing) {
  Given(R"({"a":"x"})", {.confirm_after = 2, .missing_confirmations = 2});
  Check(R"({"a":"y"})");
  const Verdict failed = Check(ProbeFailure{"timeout", "The page took too long.", true, {}});
  EXPECT_EQ(failed.outcome, Outcome::kFailed);
  EXPECT_EQ(failed.error, "timeout: The page took too long.");
  EXPECT_TRUE(failed.changes.empty());
  EXPECT_FALSE(failed.row_changed);
  EXPECT_EQ(Changes(Check(R"({"a":"y"})")), (Strings{R"(a: "x" -> "y")"}));
}

TEST_F(VerdictTest, OnlyWatchedFieldsCount) {
  Given(R"({"a":"x","zip":"1"})");
  const Verdict verdict = Check(R"({"a":"x","zip":"2","other":"3"})");
  EXPECT_EQ(verdict.outcome, Outcome::kUnchanged);
  EXPECT_FALSE(verdict.row_changed);
}

TEST_F(VerdictTest, AChangeKeepsTheOtherKnownValues) {
  Given(R"({"a":"1","b":"2","c":"3"})");
  Check(R"({"a":"1","b":"x"})");
  EXPECT_EQ(Known(), R"({"a":"1","b":"x","c":"3"})");
  Check(R"({"c":"y"})");
  EXPECT_EQ(Known(), R"({"a":"1","b":"x","c":"y"})");
}

struct ValuePair {
  const char* a;
  const char* b;
  bool same;
};

TEST(SameValue, ComparesAfterNormalisation) {
  const std::vector<ValuePair> cases = {
      // trimmed, white space folded
      {R"("x")", R"("x")", true},
      {R"(" x")", R"("x\n")", true},
      {R"("a  b")", R"("a\t\r\n b")", true},
      {R"("ab")", R"("a b")", false},
      {R"("x")", R"("X")", false},
      // numbers by value, also against text that is a number
      {"1", "1.0", true},
      {"1", "1e0", true},
      {"1.1", "1.10", true},
      {"1", R"("1")", true},
      {"1.1", R"(" 1.10 ")", true},
      {"-5", R"("-5")", true},
      {"1", "2", false},
      {"1", R"("2")", false},
      {"1", R"("1 EUR")", false},
      {"1", R"("one")", false},
      {"0", R"("-0")", true},
      {"1", R"("0x1")", false},
      {"1000", R"("1,000")", false},
      {"9007199254740993", "9007199254740992", false},
      {"18446744073709551615", "-1", false},
      {"18446744073709551615", "18446744073709551615", true},
      // text stays text: versions, codes
      {R"("1.10")", R"("1.1")", false},
      {R"("007")", R"("7")", false},
      {R"("1e3")", R"("1000")", false},
      // no value
      {"null", "null", true},
      {"null", R"("")", true},
      {R"("")", R"(" \n ")", true},
      {"null", "0", false},
      {"null", "false", false},
      {R"("")", "0", false},
      {"null", R"("null")", false},
      // truth values
      {"true", "true", true},
      {"true", "false", false},
      {"true", "1", false},
      {"false", "0", false},
      {"true", R"("true")", false},
  };
  for (const ValuePair& c : cases) {
    EXPECT_EQ(SameValue(J(c.a), J(c.b)), c.same) << c.a << " and " << c.b;
    EXPECT_EQ(SameValue(J(c.b), J(c.a)), c.same) << c.b << " and " << c.a;
  }
}

// Pages are folded by Unicode's white space. A value that comes from a research service or a model,
// or that a client gave as a baseline, is compared with theirs by the same rule.
TEST(SameValue, NoBreakAndThinSpacesAreWhiteSpace) {
  const std::vector<ValuePair> cases = {
      {R"("1 000 EUR")", R"("1 000 EUR")", true},
      {R"("a  b")", R"("a b")", true},
      {R"(" x　")", R"("x")", true},
      {R"("a\u001fb")", R"("a b")", true},
      {"5", R"("5 ")", true},
      {"null", R"(" ")", true},
      {R"("a b")", R"("ab")", false},
      {R"("a​b")", R"("a b")", false},  // zero width: a character, no space
      {R"("à")", R"("Ã")", false},
  };
  for (const ValuePair& c : cases) {
    EXPECT_EQ(SameValue(J(c.a), J(c.b)), c.same) << c.a << " and " << c.b;
    EXPECT_EQ(SameValue(J(c.b), J(c.a)), c.same) << c.b << " and " << c.a;
  }
}

TEST_F(VerdictTest, ASpaceThatBecomesANoBreakSpaceIsNoChange) {
  Given(R"({"a":"1 000 EUR","b":"x"})");
  const Verdict verdict = Check(R"({"a":"1\u00a0000\u00a0EUR","b":"x\u00a0"})");
  EXPECT_EQ(verdict.outcome, Outcome::kUnchanged);
  EXPECT_FALSE(verdict.row_changed);
}

TEST_F(VerdictTest, AValueOfNoBreakSpacesAloneIsAbsent) {
  Given(R"({"a":"x"})", {.confirm_after = 1, .missing_confirmations = 2});
  EXPECT_EQ(Check(R"({"a":"\u00a0"})").outcome, Outcome::kUnchanged) << "still to be confirmed";
  EXPECT_EQ(Changes(Check(R"({"a":"\u00a0"})")), (Strings{"a: \"x\" -> \"\u00a0\""}));
}

// The same in the slow way: one field with its own history, told apart from the others.
struct OneField {
  std::optional<Json> known;
  std::optional<Json> pending;
  int seen = 0;
};

// Any history of observations: each field's changes are those of the field alone, at most one a
// check, and what a client reads as previous_value is what the last change left.
TEST_F(VerdictTest, InAnyHistoryEveryFieldGoesItsOwnWay) {
  std::mt19937_64 random(20261121);
  const auto below = [&random](int n) {
    return static_cast<int>(random() % static_cast<std::uint64_t>(n));
  };
  const std::vector<Json> values = {Json(nullptr), "x", "y", 1, 2.5};
  for (int history = 0; history < 400; ++history) {
    const VerdictRules rules{1 + below(3), 1 + below(3)};
    std::map<std::string, OneField> model;
    Json baseline = Json::object();
    for (const WatchedField& w : watched_) {
      OneField& field = model[w.name];
      if (below(2) == 0) baseline[w.name] = *(field.known = values[1 + below(4)]);
    }
    Given(baseline.dump(), rules);
    for (int check = 0; check < 30; ++check) {
      Json seen = Json::object();
      Strings expected;
      for (const WatchedField& w : watched_) {
        if (below(4) == 0) continue;
        const Json value = values[static_cast<std::size_t>(below(5))];
        seen[w.name] = value;
        OneField& field = model[w.name];
        if (field.known && *field.known == value) {
          field.pending.reset();
          continue;
        }
        field.seen = field.pending && *field.pending == value ? field.seen + 1 : 1;
        field.pending = value;
        const int needed = value.is_null() ? rules.missing_confirmations
                           : field.known   ? rules.confirm_after
                                           : 1;
        if (field.seen < needed) continue;
        if (field.known) {
          expected.push_back(w.name + ": " + field.known->dump() + " -> " + value.dump());
        }
        field.known = value;
        field.pending.reset();
      }
      ASSERT_EQ(Changes(Check(seen.dump())), expected) << "history " << history;
      for (const auto& [name, field] : model) {
        ASSERT_EQ(field.pending.has_value(), row_.pending && row_.pending->Value().contains(name));
        if (field.pending) {
          ASSERT_EQ(row_.pending->Value()[name]["seen"], field.seen);
        }
      }
    }
  }
}

// Checks of a row whose field `a` has rules.
class RuledVerdictTest : public VerdictTest {
 protected:
  void GivenRules(const std::string& baseline, const std::string& rules, int confirm_after = 1) {
    of_fields_ = domain::ParseChangeRules(R"({"a":)" + rules + "}");
    Given(baseline, {confirm_after, 1, &of_fields_});
  }
  domain::RulesOfFields of_fields_;
};

TEST_F(RuledVerdictTest, SmallChangesAreKnownAndToldOnceTheyComeToTheThreshold) {
  GivenRules(R"({"a":100,"b":1})", R"({"threshold":{"absolute":10}})");
  for (const char* value : {"104", "107"}) {
    const Verdict verdict = Check(std::string(R"({"a":)") + value + R"(,"b":1})");
    EXPECT_EQ(Changes(verdict), Strings{}) << value;
    EXPECT_EQ(verdict.seen.at("a")->evidence, "evidence of a") << "the present value has facts";
    EXPECT_EQ(Known(), std::string(R"({"a":)") + value + R"(,"b":1})");
  }
  EXPECT_FALSE(Check(R"({"a":107,"b":1})").row_changed) << "nothing new is written";
  EXPECT_EQ(Changes(Check(R"({"a":111,"b":2})")), (Strings{"a: 100 -> 111", "b: 1 -> 2"}));
  EXPECT_EQ(Pending(), "");
  EXPECT_EQ(Changes(Check(R"({"a":115,"b":2})")), Strings{});
}

TEST_F(RuledVerdictTest, AValueThatGoesBackToWhatWasToldIsNoChange) {
  GivenRules(R"({"a":100})", R"({"threshold":{"absolute":10}})");
  EXPECT_EQ(Changes(Check(R"({"a":104})")), Strings{});
  EXPECT_EQ(Changes(Check(R"({"a":100})")), Strings{});
  EXPECT_EQ(Known(), R"({"a":100})");
  EXPECT_EQ(Pending(), "");
}

TEST_F(RuledVerdictTest, WhatWasToldLastOutlivesChecksThatSayNothingOfTheField) {
  GivenRules(R"({"a":100})", R"({"threshold":{"absolute":10}})");
  EXPECT_EQ(Changes(Check(R"({"a":104})")), Strings{});
  EXPECT_FALSE(Check("{}").row_changed);
  EXPECT_EQ(Changes(Check(R"({"a":111})")), (Strings{"a: 100 -> 111"}));
}

TEST_F(RuledVerdictTest, AChangeThatOnlyIfLeavesOutIsKnownAndComparedWith) {
  GivenRules(R"({"a":90})", R"({"only_if":{"below":100}})");
  EXPECT_EQ(Changes(Check(R"({"a":110})")), Strings{});
  EXPECT_EQ(Known(), R"({"a":110})");
  EXPECT_EQ(Pending(), "");
  EXPECT_EQ(Changes(Check(R"({"a":90})")), (Strings{"a: 110 -> 90"})) << "below 100 again";
}

TEST_F(RuledVerdictTest, WhatIsIgnoredWritesNothing) {
  GivenRules(R"({"a":"Mug, 3 left"})", R"({"ignore":["[0-9]+ left"]})");
  const Verdict verdict = Check(R"({"a":"Mug, 2 left"})");
  EXPECT_EQ(verdict.outcome, Outcome::kUnchanged);
  EXPECT_FALSE(verdict.row_changed);
  EXPECT_EQ(Changes(Check(R"({"a":"Cup, 2 left"})")),
            (Strings{R"(a: "Mug, 3 left" -> "Cup, 2 left")"}));
}

TEST_F(RuledVerdictTest, WhatIsIgnoredKeepsNoChangeFromBeingConfirmed) {
  GivenRules(R"({"a":"Mug, 3 left"})", R"({"ignore":["[0-9]+ left"]})", 2);
  EXPECT_EQ(Changes(Check(R"({"a":"Cup, 2 left"})")), Strings{});
  EXPECT_EQ(Changes(Check(R"({"a":"Cup, 1 left"})")),
            (Strings{R"(a: "Mug, 3 left" -> "Cup, 1 left")"}));
  EXPECT_EQ(Changes(Check(R"({"a":"Jug, 9 left"})")), Strings{});
  EXPECT_EQ(Changes(Check(R"({"a":"Pot, 9 left"})")), Strings{}) << "another text was seen once";
}

TEST_F(RuledVerdictTest, ConfirmationsComeBeforeTheRules) {
  GivenRules(R"({"a":100})", R"({"threshold":{"absolute":10}})", 2);
  EXPECT_EQ(Changes(Check(R"({"a":104})")), Strings{});
  EXPECT_EQ(Known(), R"({"a":100})") << "seen once";
  EXPECT_EQ(Changes(Check(R"({"a":104})")), Strings{});
  EXPECT_EQ(Known(), R"({"a":104})");
  EXPECT_EQ(Changes(Check(R"({"a":120})")), Strings{}) << "seen once";
  EXPECT_EQ(Changes(Check(R"({"a":120})")), (Strings{"a: 100 -> 120"}));
  EXPECT_EQ(Pending(), "");
}

TEST_F(RuledVerdictTest, AFirstObservationStaysSilentWhateverTheRules) {
  GivenRules("{}", R"({"only_if":{"below":100},"threshold":{"absolute":10}})");
  EXPECT_EQ(Changes(Check(R"({"a":50})")), Strings{});
  EXPECT_EQ(Changes(Check(R"({"a":40})")), (Strings{"a: 50 -> 40"}));
}

TEST(Verdict, AFieldThatCannotBeReadIsToldAndNoChange) {
  const std::vector<WatchedField> watched{{"a", "css:a["}, {"b", "css:b"}, {"c", "json:$"}};
  KnownValues before;
  before.baseline = base::Json{{"b", "1"}, {"c", "2"}};
  Observation seen;
  seen.fields["b"].value = base::Json("3");
  seen.unread["a"] = {"bad_selector", "It is none.", false, {}};
  seen.unread["c"] = {"bad_content", "No JSON.", false, {}};
  const Verdict verdict = DecideVerdict(watched, {1, 1}, before, seen);
  EXPECT_EQ(verdict.outcome, domain::Outcome::kChanged);
  ASSERT_EQ(verdict.changes.size(), 1U);
  EXPECT_EQ(verdict.changes[0].field, "b");
  EXPECT_EQ(verdict.error, "bad_selector: It is none. Nor can be read: 'c'.");
  EXPECT_EQ(verdict.never_observed, 1) << "c has a value from before";
}

TEST(Verdict, FieldsThatNeverHadAValueAreCounted) {
  const std::vector<WatchedField> watched{{"a", "css:a"}, {"b", "css:b"}, {"c", "css:c"}};
  KnownValues before;
  before.baseline = base::Json{{"b", "1"}, {"a", nullptr}};
  Observation seen;
  for (const char* name : {"a", "b", "c"}) seen.fields[name].value = base::Json(nullptr);
  EXPECT_EQ(DecideVerdict(watched, {1, 2}, before, seen).never_observed, 2);
  seen.fields["c"].value = base::Json("now");
  EXPECT_EQ(DecideVerdict(watched, {1, 2}, before, seen).never_observed, 1);
}

}  // namespace
}  // namespace vedette::worker
