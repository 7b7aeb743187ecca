#include "domain/people/age.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace vedette::domain {
namespace {

using std::chrono::year_month_day;
using Kind = AgeClaim::Kind;
using Standing = AgeClaim::Standing;

year_month_day Day(int y, unsigned m, unsigned d) {
  return {std::chrono::year(y), std::chrono::month(m), std::chrono::day(d)};
}
const year_month_day kToday = Day(2026, 11, 22);

AgeClaim Born(PartialDate date, Standing standing = Standing::kProse,
              const std::string& host = "a.example") {
  AgeClaim claim;
  claim.standing = standing;
  claim.identity = Identity::kSame;
  claim.date = date;
  claim.confidence = 6;
  claim.url = "https://" + host + "/page";
  claim.quote = "a quote";
  return claim;
}

AgeClaim Aged(int age, year_month_day as_of, const std::string& host = "b.example") {
  AgeClaim claim = Born({}, Standing::kProse, host);
  claim.kind = Kind::kAge;
  claim.age = age;
  claim.as_of = as_of;
  return claim;
}

TEST(ResolveAgeTest, AWholeDateGivesTheExactAge) {
  const auto result = ResolveAge({Born({1980, 5, 6})}, kToday);
  EXPECT_EQ(result.date_of_birth, (PartialDate{1980, 5, 6}));
  EXPECT_EQ(result.age, 46);
  EXPECT_EQ(result.date_confidence, 6);
  EXPECT_EQ(result.age_confidence, 6);
}

TEST(ResolveAgeTest, AYearAloneGivesAnEstimateWithLessConfidence) {
  const auto result = ResolveAge({Born({1980, {}, {}})}, kToday);
  EXPECT_EQ(result.age, 46);
  EXPECT_EQ(result.age_confidence, 4);
  EXPECT_FALSE(result.date_of_birth.month);
}

TEST(ResolveAgeTest, AnAgeAndAYearTogetherMayBeExact) {
  // Aged 46 on 1 January 2027 less a day and born in 1980: not yet 46 before the end of the year.
  const auto result = ResolveAge({Born({1980, {}, {}}), Aged(45, Day(2026, 11, 20))}, kToday);
  EXPECT_EQ(result.date_of_birth, (PartialDate{1980, {}, {}}));
  EXPECT_EQ(result.age, 45);
}

TEST(ResolveAgeTest, AnAgeWithoutADayOfItsOwnDoesNotCount) {
  AgeClaim claim = Aged(34, kToday);
  claim.as_of.reset();
  EXPECT_FALSE(ResolveAge({claim}, kToday).age);
}

TEST(ResolveAgeTest, WhoWasBornOnALeapDayIsOlderOnTheFirstOfMarch) {
  EXPECT_EQ(AgeOn(Day(2000, 2, 29), Day(2023, 2, 28)), 22);
  EXPECT_EQ(AgeOn(Day(2000, 2, 29), Day(2023, 3, 1)), 23);
  EXPECT_EQ(AgeOn(Day(2000, 2, 29), Day(2024, 2, 29)), 24);
}

TEST(ResolveAgeTest, AgesAllowTheirLeapDays) {
  const auto result =
      ResolveAge({Born({2000, 2, {}}), Aged(22, Day(2023, 2, 28))}, Day(2023, 2, 28));
  EXPECT_EQ(result.age, 22);
  EXPECT_EQ(result.age_confidence, 6);
}

TEST(ResolveAgeTest, DatesThatCannotBeAreDropped) {
  for (const PartialDate& date :
       {PartialDate{1980, 2, 31}, PartialDate{1981, 2, 29}, PartialDate{2026, 11, 23},
        PartialDate{1905, 1, 1}, PartialDate{1980, 13, 1}, PartialDate{{}, 5, 6}}) {
    const auto result = ResolveAge({Born(date)}, kToday);
    EXPECT_FALSE(result.date_of_birth.year);
    EXPECT_FALSE(result.age);
    EXPECT_EQ(result.date_confidence, 0);
  }
}

TEST(ResolveAgeTest, AnApproximateDateKeepsItsYear) {
  AgeClaim claim = Born({1980, 5, 6});
  claim.is_approximate = true;
  const auto result = ResolveAge({claim}, kToday);
  EXPECT_EQ(result.date_of_birth, (PartialDate{1980, {}, {}}));
  EXPECT_EQ(result.date_confidence, 4);
}

TEST(ResolveAgeTest, StructuredDataOutweighsASentence) {
  const auto result = ResolveAge({Born({1980, 5, 6}, Standing::kStructured),
                                  Born({1979, 5, 6}, Standing::kProse, "b.example")},
                                 kToday);
  EXPECT_EQ(result.date_of_birth, (PartialDate{1980, 5, 6}));
  EXPECT_EQ(result.date_confidence, 5);
}

TEST(ResolveAgeTest, TwoHostsThatDisagreeGiveNothing) {
  const auto result =
      ResolveAge({Born({1980, 5, 6}), Born({1970, 5, 6}, Standing::kProse, "b.example")}, kToday);
  EXPECT_FALSE(result.date_of_birth.year);
  EXPECT_FALSE(result.age);
}

TEST(ResolveAgeTest, APartInDisputeLeavesThePartsAboveIt) {
  const auto result =
      ResolveAge({Born({1980, 5, 6}), Born({1980, 5, 7}, Standing::kProse, "b.example")}, kToday);
  EXPECT_EQ(result.date_of_birth, (PartialDate{1980, 5, {}}));
}

TEST(ResolveAgeTest, AHostHasOneVote) {
  AgeClaims claims(5, Born({1970, 5, 6}));
  for (int i = 0; i < 5; ++i) claims[static_cast<std::size_t>(i)].url += std::to_string(i);
  claims.push_back(Born({1980, 5, 6}, Standing::kStructured, "b.example"));
  EXPECT_EQ(ResolveAge(claims, kToday).date_of_birth, (PartialDate{1980, 5, 6}));
}

TEST(ResolveAgeTest, HostsThatAgreeAddConfidenceUpToTwo) {
  AgeClaims claims;
  for (const char* host : {"a.example", "b.example", "c.example", "d.example"}) {
    claims.push_back(Born({1980, 5, 6}, Standing::kProse, host));
  }
  EXPECT_EQ(ResolveAge(claims, kToday).date_confidence, 8);
}

TEST(ResolveAgeTest, AServiceIsNeverSureBeyondNine) {
  AgeClaim claim = Born({1980, 5, 6}, Standing::kService);
  claim.confidence = 10;
  EXPECT_EQ(ResolveAge({claim}, kToday).date_confidence, 9);
}

TEST(ResolveAgeTest, AClaimWithoutAUrlOrAQuoteDoesNotCount) {
  AgeClaim no_quote = Born({1980, 5, 6});
  no_quote.quote.clear();
  AgeClaim no_url = Born({1980, 5, 6});
  no_url.url = "the archive";
  EXPECT_FALSE(ResolveAge({no_quote, no_url}, kToday).date_of_birth.year);
}

TEST(ResolveAgeTest, ClaimsThatHaveNoDayInCommonGiveTheHeaviestGroup) {
  const auto result = ResolveAge(
      {Aged(34, kToday, "a.example"), Aged(34, kToday, "b.example"), Aged(50, kToday, "c.example")},
      kToday);
  EXPECT_EQ(result.age, 34);
  EXPECT_EQ(result.age_confidence, 3);
}

TEST(ResolveAgeTest, TwoGroupsOfOneWeightGiveNoAge) {
  EXPECT_FALSE(
      ResolveAge({Aged(34, kToday, "a.example"), Aged(50, kToday, "b.example")}, kToday).age);
}

TEST(ResolveAgeTest, ThoseBelowTheLeastAgeAreWithheld) {
  const auto result = ResolveAge({Born({2015, 5, 6})}, kToday, 18);
  EXPECT_TRUE(result.is_withheld);
  EXPECT_FALSE(result.age);
  EXPECT_FALSE(result.date_of_birth.year);
  EXPECT_TRUE(result.sources.empty());
  EXPECT_EQ(result.evidence, "withheld");
}

TEST(ResolveAgeTest, ThoseWhoCanOnlyBeBelowTheLeastAgeAreWithheldWithoutAnAge) {
  const AgeClaims tied = {Aged(5, Day(2020, 6, 15), "b.example"),
                          Aged(4, Day(2020, 6, 20), "c.example")};
  EXPECT_FALSE(ResolveAge(tied, kToday).age);
  EXPECT_TRUE(ResolveAge(tied, kToday, 18).is_withheld) << "every claim is below it";
  for (const PartialDate& date : {PartialDate{2015, {}, {}}, PartialDate{2015, 6, {}}}) {
    AgeClaims claims = tied;
    claims.push_back(Born(date));
    EXPECT_FALSE(ResolveAge(claims, kToday).age);
    const auto result = ResolveAge(claims, kToday, 18);
    EXPECT_TRUE(result.is_withheld);
    EXPECT_EQ(result.date_of_birth, PartialDate());
    EXPECT_EQ(result.evidence, "withheld");
  }
  EXPECT_FALSE(ResolveAge({Aged(5, Day(2020, 6, 15)), Aged(40, kToday, "c.example")}, kToday, 18)
                   .is_withheld);
  EXPECT_FALSE(ResolveAge({}, kToday, 18).is_withheld);
}

// Rule 1: an age counts for a day that has been, and for ages that people reach.
TEST(ResolveAgeTest, AgesThatCannotBeAreDropped) {
  for (const AgeClaim& claim : {Aged(34, Day(2026, 11, 23)), Aged(121, Day(2020, 1, 1)),
                                Aged(-1, Day(2020, 1, 1)), Aged(34, Day(2025, 2, 29))}) {
    EXPECT_FALSE(ResolveAge({claim}, kToday).age) << claim.age;
  }
  EXPECT_EQ(ResolveAge({Aged(120, kToday)}, kToday).age, 120);
  EXPECT_EQ(ResolveAge({Born({1906, 12, 1})}, kToday).age, 119);
}

TEST(ResolveAgeTest, BirthsMoreThanAHundredAndTwentyYearsBackAreDropped) {
  EXPECT_EQ(ResolveAge({Born({1906, 11, 22})}, kToday).age, 120);
  EXPECT_EQ(ResolveAge({Born({1906, {}, {}})}, kToday).date_of_birth.year, 1906);
  AgeClaim about = Born({1905, 12, 31});
  about.is_approximate = true;
  for (const AgeClaim& claim :
       {Born({1906, 11, 21}), Born({1906, 10, {}}), Born({1905, {}, {}}), about,
        Aged(120, Day(2016, 1, 1)), Aged(90, Day(1996, 11, 21)), Aged(119, Day(1986, 1, 1))}) {
    const auto result = ResolveAge({claim}, kToday);
    EXPECT_FALSE(result.date_of_birth.year);
    EXPECT_FALSE(result.age);
    EXPECT_EQ(result.evidence, "What was found could not be used.");
  }
}

// Rule 2, for each weight: twice that of the others wins, and less does not.
TEST(ResolveAgeTest, AWinnerHasTwiceTheWeightOfTheOthers) {
  const auto year_of = [](const AgeClaims& claims) {
    return ResolveAge(claims, kToday).date_of_birth.year.value_or(0);
  };
  const AgeClaim prose = Born({1970, {}, {}}, Standing::kProse, "b.example");
  const AgeClaim prose_too = Born({1970, {}, {}}, Standing::kProse, "c.example");
  for (const Standing heavy : {Standing::kStructured, Standing::kService, Standing::kWikidata}) {
    EXPECT_EQ(year_of({Born({1980, {}, {}}, heavy), prose}), 1980);
    EXPECT_EQ(year_of({Born({1980, {}, {}}, heavy), prose, prose_too}), 0);
  }
  for (const Standing light : {Standing::kProse, Standing::kWikidataUnreferenced}) {
    EXPECT_EQ(year_of({Born({1980, {}, {}}, light), prose}), 0);
    EXPECT_EQ(year_of({Born({1980, {}, {}}, light), prose, prose_too}), 1970);
  }
  const AgeClaim service = Born({1970, {}, {}}, Standing::kService, "b.example");
  EXPECT_EQ(year_of({Born({1980, {}, {}}, Standing::kStructured), service}), 0) << "3 against 2";
}

TEST(ResolveAgeTest, AHostThatContradictsItselfHasNoVoteAndCountsAgainstTheOthers) {
  AgeClaim other = Born({1970, 5, 6});
  other.quote = "another quote";
  EXPECT_FALSE(ResolveAge({Born({1980, 5, 6}), other}, kToday).date_of_birth.year);
  const AgeClaim structured = Born({1980, 5, 6}, Standing::kStructured, "b.example");
  const auto result = ResolveAge({Born({1980, 5, 6}), other, structured}, kToday);
  EXPECT_EQ(result.date_of_birth, (PartialDate{1980, 5, 6}));
  EXPECT_LT(result.date_confidence, 8);
}

// Rule 3: what a claim alone is worth, and "about" 2 less.
TEST(ResolveAgeTest, EachKindOfClaimHasItsConfidence) {
  const std::pair<Standing, int> kWorth[] = {{Standing::kStructured, 8},
                                             {Standing::kWikidata, 7},
                                             {Standing::kWikidataUnreferenced, 6},
                                             {Standing::kProse, 6},
                                             {Standing::kService, 6}};
  for (const auto& [standing, worth] : kWorth) {
    AgeClaim claim = Born({1980, 5, 6}, standing);
    EXPECT_EQ(ResolveAge({claim}, kToday).date_confidence, worth);
    claim.is_approximate = true;
    EXPECT_EQ(ResolveAge({claim}, kToday).date_confidence, worth - 2);
  }
  AgeClaim unsure = Born({1980, 5, 6}, Standing::kService);
  unsure.confidence = 0;
  unsure.is_approximate = true;
  EXPECT_EQ(ResolveAge({unsure}, kToday).date_confidence, 1) << "at least 1";
}

TEST(ResolveAgeTest, TheDateIsAsSureAsItsLeastSurePart) {
  const auto result = ResolveAge({Born({1980, {}, {}}, Standing::kStructured),
                                  Born({1980, 5, {}}, Standing::kProse, "b.example")},
                                 kToday);
  EXPECT_EQ(result.date_of_birth, (PartialDate{1980, 5, {}}));
  EXPECT_EQ(result.date_confidence, 6) << "the year is 9, the month 6";
}

// Rule 4: an interval bounds the age, and sets no part of the date.
TEST(ResolveAgeTest, AgesSetNoPartOfTheDate) {
  const auto result = ResolveAge(
      {Aged(34, Day(2020, 6, 1), "a.example"), Aged(35, Day(2020, 6, 2), "b.example")}, kToday);
  EXPECT_EQ(result.date_of_birth, PartialDate()) << "though only 2 June 1985 is left";
  EXPECT_EQ(result.date_confidence, 0);
  EXPECT_EQ(result.age, 41);
  EXPECT_EQ(result.age_confidence, 6) << "exact";
}

// Rule 5
TEST(ResolveAgeTest, WhoHasDiedHasNoAgeAndTheEvidenceSaysSo) {
  AgeClaim died = Born({2001, {}, {}}, Standing::kWikidata, "b.example");
  died.kind = Kind::kDeath;
  died.quote = "died in 2001";
  const auto result = ResolveAge({Born({1980, 5, 6}), died}, kToday, 18);
  EXPECT_EQ(result.date_of_birth, (PartialDate{1980, 5, 6}));
  EXPECT_FALSE(result.age);
  EXPECT_NE(result.evidence.find("has died"), std::string::npos);
  died.identity = Identity::kUnproven;
  EXPECT_EQ(ResolveAge({Born({1980, 5, 6}), died}, kToday).age, 46) << "somebody else's death";
}

TEST(ResolveAgeTest, WhoIsOldEnoughTodayIsNotWithheld) {
  EXPECT_FALSE(ResolveAge({Born({2008, 11, 22})}, kToday, 18).is_withheld);
  EXPECT_TRUE(ResolveAge({Born({2008, 11, 23})}, kToday, 18).is_withheld);
  EXPECT_FALSE(ResolveAge({Born({2020, 1, 1})}, kToday, 0).is_withheld) << "0 is off";
}

TEST(ResolveAgeTest, TheEvidenceNamesQuotesHostsAndHowManyCouldNotBeTiedAndIsBounded) {
  AgeClaims claims;
  for (int i = 0; i < 30; ++i) {
    claims.push_back(Born({1980, 5, 6}, Standing::kProse, fmt::format("h{}.example", i)));
    claims.back().quote = std::string(400, 'q');
  }
  const auto many = ResolveAge(claims, kToday);
  EXPECT_EQ(many.sources.size(), kAgeSourcesMax);
  EXPECT_LE(many.evidence.size(), kAgeEvidenceCharactersMax);
  AgeClaim unproven = Born({1970, 5, 6}, Standing::kProse, "c.example");
  unproven.identity = Identity::kUnproven;
  const auto one = ResolveAge({Born({1980, 5, 6}), unproven}, kToday);
  EXPECT_NE(one.evidence.find("a.example says: \"a quote\""), std::string::npos) << one.evidence;
  EXPECT_NE(one.evidence.find("1 more could not be tied"), std::string::npos) << one.evidence;
  EXPECT_EQ(one.sources, std::vector<std::string>{"https://a.example/page"});
}

// The same numbers whatever the seed's machine: no distribution of the library is used.
int Pick(std::mt19937* random, int count) {
  return static_cast<int>((*random)() % static_cast<unsigned>(count));
}

AgeClaim RandomClaim(std::mt19937* random) {
  const std::string host = fmt::format("h{}.example", Pick(random, 4));
  if (Pick(random, 4) == 0)
    return Aged(40 + Pick(random, 4), Day(2020 + Pick(random, 6), 3, 1), host);
  PartialDate date{1980 + Pick(random, 3), {}, {}};
  if (Pick(random, 2) == 0) date.month = 1 + Pick(random, 2);
  if (date.month && Pick(random, 2) == 0) date.day = 1 + Pick(random, 2);
  AgeClaim claim = Born(date, static_cast<Standing>(Pick(random, 5)), host);
  claim.is_approximate = Pick(random, 5) == 0;
  if (Pick(random, 3) == 0) claim.identity = Identity::kUnproven;
  return claim;
}

TEST(ResolveAgeTest, OrderAndClaimsAboutOthersChangeNothing) {
  std::mt19937 random(7);
  for (int round = 0; round < 500; ++round) {
    AgeClaims claims;
    for (int i = Pick(&random, 8); i >= 0; --i) claims.push_back(RandomClaim(&random));
    const auto before = ResolveAge(claims, kToday);
    AgeClaims same = claims;
    std::erase_if(same, [](const AgeClaim& claim) { return claim.identity != Identity::kSame; });
    std::reverse(claims.begin(), claims.end());
    const auto reversed = ResolveAge(claims, kToday);
    const auto alone = ResolveAge(same, kToday);
    EXPECT_EQ(before.evidence, reversed.evidence);
    for (const auto& other : {reversed, alone}) {
      ASSERT_EQ(before.date_of_birth, other.date_of_birth);
      ASSERT_EQ(before.date_confidence, other.date_confidence);
      ASSERT_EQ(before.age, other.age);
      ASSERT_EQ(before.age_confidence, other.age_confidence);
      ASSERT_EQ(before.sources, other.sources);
    }
    // Nothing is set that no claim states.
    if (before.date_of_birth.year) {
      ASSERT_TRUE(std::any_of(same.begin(), same.end(), [&](const AgeClaim& claim) {
        return claim.kind == Kind::kBirth && claim.date.year == before.date_of_birth.year;
      }));
    }
  }
}

}  // namespace
}  // namespace vedette::domain
