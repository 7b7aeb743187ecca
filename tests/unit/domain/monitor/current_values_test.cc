#include "domain/monitor/current_values.h"
#include "base/json.h"
#include "domain/monitor/observation.h"

#include <gtest/gtest.h>

namespace vedette::domain {
namespace {

using base::Json;

const base::Timestamp kNoon{std::chrono::seconds(1'700'000'000)};
const Json kWatched{{"price", "css:.price"}, {"title", "css:h1"}};

FieldObservation Seen(Json value, std::string evidence) {
  return {std::move(value), std::move(evidence), {"http://shop.example/"}, 9.5};
}

TEST(CurrentValues, AreTheKnownOnesWithTheirFacts) {
  const Json seen{{"price", FactsOf(Seen(1299, "1.299 EUR"), kNoon)}};
  const std::string seen_json = base::DumpJson(seen);
  const auto current = CurrentValuesOf(
      kWatched, {}, {R"({"price":999,"title":"A"})", R"({"price":1299,"title":"A"})", seen_json});
  EXPECT_EQ(base::DumpJson(current.values.Value()["price"]),
            R"({"value":1299,"since":"2023-11-14T22:13:20.000000Z","evidence":"1.299 EUR",)"
            R"("sources":["http://shop.example/"],"confidence":9.5})");
  EXPECT_EQ(base::DumpJson(current.values.Value()["title"]),
            R"({"value":"A","since":null,"evidence":null,"sources":null,"confidence":null})");
  EXPECT_TRUE(current.never_observed.empty());
}

TEST(CurrentValues, AreTheBaselineWhileNothingChanged) {
  const auto current =
      CurrentValuesOf(kWatched, {}, {R"({"price":12345678901234567890123})", std::nullopt, {}});
  EXPECT_EQ(base::DumpJson(current.values.Value()["price"]["value"]), "12345678901234567890123");
  EXPECT_EQ(current.never_observed, std::vector<std::string>{"title"});
}

TEST(CurrentValues, HaveNoFactsOfAnOlderValue) {
  const std::string seen_json =
      base::DumpJson(Json{{"price", FactsOf(Seen(999, "999 EUR"), kNoon)}});
  const auto current =
      CurrentValuesOf(kWatched, {}, {R"({"price":999})", R"({"price":1299})", seen_json});
  EXPECT_EQ(current.values.Value()["price"]["value"], 1299);
  EXPECT_TRUE(current.values.Value()["price"]["evidence"].is_null());
}

TEST(CurrentValues, TellAFieldThatWasNeverSeenFromOneThatVanished) {
  const std::string seen_json = base::DumpJson(
      Json{{"price", FactsOf({Json(nullptr), "", {}, std::nullopt}, kNoon)}, {"title", nullptr}});
  const auto current = CurrentValuesOf(
      kWatched, {},
      {R"({"price":null,"title":null})", R"({"price":null,"title":null})", seen_json});
  EXPECT_EQ(current.never_observed, std::vector<std::string>{"title"});
  EXPECT_EQ(current.values.Value()["price"]["since"], "2023-11-14T22:13:20.000000Z");
}

TEST(CurrentValues, LeaveOutWhatAnEarlierDescriptionObserved) {
  const FieldVersions versions{{"price", 2}};
  const std::string known = R"({"price":999,"title":"A"})";
  const auto before = CurrentValuesOf(kWatched, versions, {known, known, std::nullopt, 1});
  EXPECT_TRUE(before.values.Value()["price"]["value"].is_null());
  EXPECT_EQ(before.values.Value()["title"]["value"], "A");
  EXPECT_EQ(before.never_observed, std::vector<std::string>{"price"});
  EXPECT_EQ(CurrentValuesOf(kWatched, versions, {known, known, std::nullopt, 2})
                .values.Value()["price"]["value"],
            999);
  EXPECT_TRUE(ForgetsAny(versions, 1));
  EXPECT_FALSE(ForgetsAny(versions, 2));
  EXPECT_EQ(base::DumpJson(WithoutForgotten(base::ParseJsonOrThrow(known), versions, 1)),
            R"({"title":"A"})");
}

TEST(CurrentValues, ShowOfTheBaselineWhatIsWatchedAndNotForgotten) {
  const std::string baseline = R"({"gone":1,"price":12345678901234567890123,"title":"A"})";
  const auto shown = [&](int row_version) {
    return CurrentValuesOf(kWatched, {{"price", 2}},
                           {baseline, std::nullopt, std::nullopt, row_version})
        .baseline.Text();
  };
  EXPECT_EQ(shown(1), R"({"title":"A"})");
  EXPECT_EQ(shown(2), R"({"price":12345678901234567890123,"title":"A"})");
}

TEST(ContextOf, LeavesOutWhatBecameAWatchedField) {
  const auto is_watched = [](std::string_view name) { return kWatched.contains(name); };
  const std::string context = R"({"price": 1.50,"note":1.50})";
  EXPECT_EQ(ContextOf(context, {}, is_watched), context) << "no change of the struct: as it is";
  EXPECT_EQ(ContextOf(context, {{"price", 1}}, is_watched), R"({"note":1.50})");
  EXPECT_EQ(ContextOf(R"({"price":1})", {{"price", 1}}, is_watched), std::nullopt);
  EXPECT_EQ(ContextOf(std::nullopt, {{"price", 1}}, is_watched), std::nullopt);
}

TEST(FieldVersions, ComeBackAsTheyWereWritten) {
  const FieldVersions versions{{"price", 2}, {"title", 5}};
  EXPECT_EQ(ParseFieldVersions(FieldVersionsJson(versions)), versions);
  EXPECT_TRUE(ParseFieldVersions(std::nullopt).empty());
}

TEST(CurrentValues, KeepNoEvidenceThatTheDatabaseRefuses) {
  const Json facts = FactsOf(Seen("1", std::string("a\0b", 3)), kNoon);
  EXPECT_FALSE(facts.contains("evidence"));
  EXPECT_TRUE(facts.contains("sources"));
}

}  // namespace
}  // namespace vedette::domain
