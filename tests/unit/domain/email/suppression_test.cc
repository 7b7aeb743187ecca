#include "domain/email/suppression.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "base/crypto.h"
#include "domain/email/email_fact.h"
#include "domain/email/finders.h"

namespace vedette::domain {
namespace {

TEST(Suppression, ValuesAreNormalisedBeforeTheyAreHashed) {
  EXPECT_EQ(AddressSuppression(" Ann+News@ACME.com "), AddressSuppression("ann@acme.com"));
  EXPECT_EQ(AddressSuppression("A.nn+x@googlemail.com"), AddressSuppression("ann@gmail.com"));
  EXPECT_NE(AddressSuppression("a.nn@acme.com"), AddressSuppression("ann@acme.com"));
  EXPECT_EQ(AddressSuppression("ann@müller.example"),
            AddressSuppression("ann@xn--mller-kva.example"));
  EXPECT_EQ(AddressSuppression("ZOÉ@acme.com"), AddressSuppression("zoe\u0301@acme.com"));
  EXPECT_EQ(DomainSuppression("https://www.Acme.com/about"), DomainSuppression("acme.com"));
  EXPECT_EQ(ProfileSuppression("https://www.linkedin.com/in/Ann/?x=1"),
            ProfileSuppression("linkedin.com/in/ann"));
  EXPECT_EQ(PersonSuppression("Ánn  EXAMPLE", "acme.com"),
            PersonSuppression("ann example", "acme.com"));
  EXPECT_NE(PersonSuppression("ann example", "acme.com"),
            PersonSuppression("ann example", "other.com"));
  EXPECT_EQ(AddressSuppression("ann@acme.com")->hash.size(), 32U);
}

bool Has(const std::vector<SuppressionKey>& keys, const std::optional<SuppressionKey>& key) {
  return key && std::find(keys.begin(), keys.end(), *key) != keys.end();
}

TEST(Suppression, APersonIsKnownByEverySpellingOfTheName) {
  const auto asked = [](const char* name) { return PersonSuppressions(name, "acme.com"); };
  for (const char* listed : {"Ann Smith", "Smith, Ann", "Dr. Ann Smith", "Ann Smith, PhD",
                             "Ann (Annie) Smith", "Ann B. Smith", "ANN  SMITH"}) {
    const auto key = PersonSuppression(listed, "acme.com");
    for (const char* name : {"Ann Smith", "Smith, Ann", "Dr. Ann Smith", "Ann Smith, PhD",
                             "Ann (Annie) Smith", "Ann B. Smith", "Ann \"Annie\" Smith"}) {
      EXPECT_TRUE(Has(asked(name), key)) << listed << " as " << name;
    }
    EXPECT_FALSE(Has(asked("Ann Smithers"), key)) << listed;
    EXPECT_FALSE(Has(asked("Anna Smith"), key)) << listed;
  }
  for (const char* listed : {"Jörg Müßig", "Joerg Muessig", "Jorg Mussig"}) {
    for (const char* name : {"Jörg Müßig", "Joerg Muessig", "Jorg Mussig"}) {
      EXPECT_TRUE(Has(asked(name), PersonSuppression(listed, "acme.com"))) << listed << name;
    }
  }
  EXPECT_TRUE(Has(asked("Ann Smith Jones"), PersonSuppression("Ann Smith-Jones", "acme.com")));
  EXPECT_TRUE(Has(asked("Cher"), PersonSuppression("CHER", "acme.com")));
  EXPECT_TRUE(Has(asked("محمد علي"), PersonSuppression("محمد علي", "acme.com")));
}

TEST(Suppression, ALeadIsAskedByItsFirstAndLastNameToo) {
  Person person;
  person.name = "Annie S.";
  person.first_name = "Ann B.";
  person.last_name = "Smith";
  person.domain = "acme.com";
  EXPECT_TRUE(Has(SuppressionKeys(person), PersonSuppression("Ann Smith", "acme.com")));
}

// Entries that earlier releases stored.
TEST(Suppression, WhatIsStoredAlreadyHolds) {
  Person person;
  person.name = "Samuel van der Berg";
  person.domain = "acme.com";
  person.linkedin = "https://de.linkedin.com/in/ann/en";
  const std::string label = "vedette suppression 1";
  const auto stored = [&](SuppressionKind kind, const std::string& value) {
    std::string text = label + '\0' + std::string(SuppressionKindName(kind)) + '\0' + value;
    return SuppressionKey{kind, base::Sha256(text)};
  };
  const auto keys = SuppressionKeys(person);
  EXPECT_TRUE(Has(keys, stored(SuppressionKind::kPerson,
                               std::string("samuel van der berg") + '\0' + "acme.com")));
  EXPECT_TRUE(Has(keys, stored(SuppressionKind::kProfile, "de.linkedin.com/in/ann/en")));
}

TEST(Suppression, AProfileIsKnownByEachOfItsAddresses) {
  const auto key = ProfileSuppression("https://www.linkedin.com/in/ann");
  for (const char* url :
       {"https://de.linkedin.com/in/ann", "http://m.linkedin.com/in/Ann/", "linkedin.com/in/ann/en",
        "https://www.linkedin.com:443/in/ann", "https://linkedin.com/in/ann/?locale=de#top"}) {
    EXPECT_EQ(ProfileSuppression(url), key) << url;
  }
  EXPECT_NE(ProfileSuppression("https://linkedin.com/in/anna"), key);
  EXPECT_NE(ProfileSuppression("https://notlinkedin.com/in/ann"), key);
  EXPECT_NE(ProfileSuppression("https://linkedin.com/company/ann"), key);
  EXPECT_EQ(ProfileSuppression("https://example.org:443/ann/"),
            ProfileSuppression("example.org/ann"));
}

TEST(Suppression, KindsDoNotMeet) {
  EXPECT_NE(DomainSuppression("acme.com")->hash, ProfileSuppression("acme.com/x")->hash);
  EXPECT_EQ(ParseSuppressionKind("profile"), SuppressionKind::kProfile);
  EXPECT_EQ(ParseSuppressionKind("nobody"), std::nullopt);
}

TEST(Suppression, WhatIsNoneOfItsKindHasNoKey) {
  EXPECT_FALSE(AddressSuppression("acme.com"));
  EXPECT_FALSE(DomainSuppression("acme"));
  EXPECT_FALSE(ProfileSuppression("linkedin.com"));
  EXPECT_FALSE(PersonSuppression("", "acme.com"));
  EXPECT_FALSE(PersonSuppression("Ann", ""));
}

TEST(Suppression, ALeadIsAskedByEverythingThatItNames) {
  Person person;
  person.first_name = "Ann";
  person.last_name = "Example";
  person.email = "ann@acme.com";
  person.linkedin = "https://linkedin.com/in/ann";
  const auto keys = SuppressionKeys(person);
  ASSERT_EQ(keys.size(), 4U);
  EXPECT_EQ(keys[0], AddressSuppression("ann@acme.com"));
  EXPECT_EQ(keys[1], ProfileSuppression("linkedin.com/in/ann"));
  EXPECT_EQ(keys[2], DomainSuppression("acme.com"));
  EXPECT_EQ(keys[3], PersonSuppression("Ann Example", "acme.com"));
}

// An address at one domain is no way around the list by naming a company at another.
TEST(Suppression, ALeadIsAskedByTheDomainsOfItsAddressesToo) {
  Person person;
  person.name = "Ann Example";
  person.domain = "acme.com";
  person.email = "ann@other.com";
  person.personal_email = "ann@home.example";
  const auto keys = SuppressionKeys(person);
  const auto has = [&](const std::optional<SuppressionKey>& key) {
    return key && std::find(keys.begin(), keys.end(), *key) != keys.end();
  };
  for (const char* domain : {"acme.com", "other.com", "home.example"}) {
    EXPECT_TRUE(has(DomainSuppression(domain))) << domain;
    EXPECT_TRUE(has(PersonSuppression("Ann Example", domain))) << domain;
  }
  EXPECT_EQ(keys.size(), 8U);
}

Person Ann() {
  Person person;
  person.name = "Ann Example";
  person.domain = "acme.com";
  return person;
}

FoundAddress Verified(const char* address, AddressStatus status, const char* reason, bool stated) {
  FoundAddress found;
  found.candidate.address = address;
  found.candidate.status = status;
  found.candidate.stated = stated;
  found.provider = "pattern";
  found.reason = reason;
  found.check = AddressCheck::kVerified;
  found.checked_at = base::Timestamp(std::chrono::hours(1000));
  return found;
}

TEST(FindLesson, AVerdictThatMayBeReliedOnBecomesAFact) {
  const auto lesson = LessonOf(base::Uuid(), Ann(),
                               {Verified("Ann@acme.com", AddressStatus::kOk, "", true),
                                Verified("b@acme.com", AddressStatus::kNotFound, "refused", false),
                                Verified("c@acme.com", AddressStatus::kUnknown, "timeout", true)},
                               base::Timestamp());
  ASSERT_EQ(lesson.facts.size(), 2U);
  EXPECT_EQ(lesson.facts[0].address, "ann@acme.com");
  EXPECT_EQ(lesson.facts[0].person_key, PersonKey(Ann()));
  EXPECT_EQ(lesson.facts[0].until - lesson.facts[0].checked_at, std::chrono::hours(30 * 24));
  EXPECT_EQ(lesson.facts[1].person_key, "") << "a refused guess is nobody's";
}

TEST(FindLesson, ANameHitsOrMissesAPatternOnce) {
  auto miss = Verified("a@acme.com", AddressStatus::kNotFound, "refused", false);
  miss.candidate.pattern = AddressPattern::kFLast;
  auto second = Verified("b@acme.com", AddressStatus::kNotFound, "refused", false);
  second.candidate.pattern = AddressPattern::kFLast;
  const auto lesson =
      LessonOf(base::Uuid(), Ann(),
               {miss, second, Verified("ann.example@acme.com", AddressStatus::kOk, "", true),
                Verified("ann@other.com", AddressStatus::kOk, "", true)},
               base::Timestamp());
  ASSERT_EQ(lesson.patterns.size(), 2U);
  EXPECT_EQ(lesson.patterns[0].pattern, AddressPattern::kFirstDotLast);
  EXPECT_EQ(lesson.patterns[0].hits, 1);
  EXPECT_EQ(lesson.patterns[1].pattern, AddressPattern::kFLast);
  EXPECT_EQ(lesson.patterns[1].hits, 0);
  EXPECT_EQ(lesson.patterns[1].misses, 1);
}

TEST(FindLesson, ALeadTeachesTheDomainThatItNamesForACompany) {
  Person ann = Ann();
  ann.company = "Acme Widgets";
  const auto lesson = LessonOf(base::Uuid(), ann, {}, base::Timestamp());
  EXPECT_EQ(lesson.company_key, CompanyKey("acme WIDGETS"));
  EXPECT_EQ(lesson.domain, "acme.com");
  EXPECT_FALSE(lesson.empty());
  EXPECT_TRUE(LessonOf(base::Uuid(), Ann(), {}, base::Timestamp()).empty());
  ann.domain = "gmail.com";
  EXPECT_TRUE(LessonOf(base::Uuid(), ann, {}, base::Timestamp()).empty());
}

TEST(FindLesson, TheDomainOfACompanyIsTheOneThatLeadsAgreeOn) {
  EXPECT_EQ(AgreedDomain({}), "");
  EXPECT_EQ(AgreedDomain({{"a.com", 1}}), "a.com");
  EXPECT_EQ(AgreedDomain({{"a.com", 1}, {"b.com", 1}}), "");
  EXPECT_EQ(AgreedDomain({{"a.com", 3}, {"b.com", 1}, {"c.com", 1}}), "");
  EXPECT_EQ(AgreedDomain({{"b.com", 1}, {"a.com", 4}, {"c.com", 1}}), "a.com");
}

TEST(FindLesson, WhatIsInventedTeachesNothing) {
  auto invented = Verified("ann@acme.com", AddressStatus::kOk, "", true);
  invented.provider = std::string(kNullProvider);
  const auto lesson = LessonOf(base::Uuid(), Ann(), {invented}, base::Timestamp());
  EXPECT_TRUE(lesson.facts.empty());
  EXPECT_TRUE(lesson.patterns.empty());
}

TEST(FindLesson, WhatCameFromOwnFactsOrWasNotCheckedTeachesNothing) {
  auto known = Verified("ann@acme.com", AddressStatus::kOk, "", true);
  known.provider = std::string(kStoreProvider);
  known.check = AddressCheck::kOpen;
  const auto lesson = LessonOf(base::Uuid(), Ann(), {known}, base::Timestamp());
  EXPECT_TRUE(lesson.facts.empty());
  EXPECT_TRUE(lesson.patterns.empty());
}

}  // namespace
}  // namespace vedette::domain
