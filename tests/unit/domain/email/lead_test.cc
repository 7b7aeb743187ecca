#include "domain/email/lead.h"
#include "base/json.h"

#include <gtest/gtest.h>

namespace vedette::domain {
namespace {

using Kind = LeadFault::Kind;

Person Read(const char* json) {
  const auto read = ReadLead(base::ParseJsonOrThrow(json));
  if (const auto* fault = std::get_if<LeadFault>(&read)) {
    ADD_FAILURE() << json << ": " << fault->message;
    return {};
  }
  return std::get<Person>(read);
}

LeadFault Fault(const base::Json& lead) {
  const auto read = ReadLead(lead);
  const auto* fault = std::get_if<LeadFault>(&read);
  if (fault == nullptr) {
    ADD_FAILURE() << "it was read";
    return {Kind::kEmpty, "", ""};
  }
  return *fault;
}

TEST(Lead, OfEachGroupOfKeysTheFirstWithAValueCounts) {
  const Person person = Read(R"({
    "full_name": "Full", "name": " ", "company_name": " Acme ", "organization": "Other",
    "company": null, "website": "https://www.acme.com/x", "linkedin_url": "l",
    "first_name": "Ann", "last_name": "Example", "email": " a@acme.com ", "personal_email": "p@x.org",
    "title": "CEO", "location": "Oslo", "mine": {"any": ["thing"]}})");
  EXPECT_EQ(person.name, "Full");
  EXPECT_EQ(person.company, "Acme");
  EXPECT_EQ(person.domain, "acme.com");
  EXPECT_EQ(person.linkedin, "l");
  EXPECT_EQ(person.email, "a@acme.com");
  EXPECT_EQ(person.title, "CEO");
}

TEST(Lead, ACompanyThatIsADomainOrAUrlIsTheDomainToo) {
  EXPECT_EQ(Read(R"({"company": "Acme.com"})").domain, "acme.com");
  EXPECT_EQ(Read(R"({"company": "https://www.acme.com/"})").domain, "acme.com");
  EXPECT_EQ(Read(R"({"company": "Acme.com", "domain": "other.com"})").domain, "other.com");
  EXPECT_EQ(Read(R"({"company": "Acme.com", "domain": "n/a"})").domain, "acme.com");
  EXPECT_EQ(Read(R"({"company": "Acme Inc."})").domain, "");
  EXPECT_EQ(Read(R"({"name": "A", "domain": "no domain"})").domain, "");
}

TEST(Lead, ALeadIsAnObjectWithAKnownValue) {
  for (const base::Json& lead : {base::Json(nullptr), base::Json(5), base::Json::array()}) {
    EXPECT_EQ(Fault(lead).Code(), "invalid_lead");
  }
  for (const char* lead : {"{}", R"({"name": "  "})", R"({"email": null})", R"({"x": "y"})"}) {
    const LeadFault fault = Fault(base::ParseJsonOrThrow(lead));
    EXPECT_EQ(fault.Code(), "empty_lead") << lead;
    EXPECT_TRUE(fault.IsRule());
    EXPECT_EQ(fault.message,
              "has no known field with a value; known are: name, full_name, first_name, last_name, "
              "company, company_name, organization, domain, company_domain, website, linkedin, "
              "linkedin_url, email, personal_email, title, location");
  }
}

TEST(Lead, KnownKeysHoldTextOrNull) {
  for (const char* lead : {R"({"email": 5})", R"({"name": "A", "email": ["a"]})",
                           R"({"email": {}, "name": "A"})", R"({"email": true})"}) {
    const LeadFault fault = Fault(base::ParseJsonOrThrow(lead));
    EXPECT_EQ(fault.kind, Kind::kNotString) << lead;
    EXPECT_EQ(fault.key, "email");
    EXPECT_FALSE(fault.IsRule());
  }
}

TEST(Lead, ALeadHasLimits) {
  base::Json lead{{"name", "A"}};
  for (std::size_t i = 1; i < kLeadKeysMax; ++i) lead["k" + std::to_string(i)] = i;
  EXPECT_TRUE(std::holds_alternative<Person>(ReadLead(lead)));
  lead["one more"] = 1;
  EXPECT_EQ(Fault(lead).kind, Kind::kTooManyKeys);

  std::string name;
  for (std::size_t i = 0; i < kLeadValueCharactersMax; ++i) name += "\xC3\xA9";
  EXPECT_TRUE(std::holds_alternative<Person>(ReadLead({{"name", name}})));
  const LeadFault fault = Fault({{"name", name + "x"}});
  EXPECT_EQ(fault.kind, Kind::kValueTooLong);
  EXPECT_EQ(fault.key, "name");

  lead = {{"name", "A"}, {"x", std::string(kLeadBytesMax - 19, 'x')}};
  EXPECT_EQ(base::DumpJson(lead).size(), kLeadBytesMax);
  EXPECT_TRUE(std::holds_alternative<Person>(ReadLead(lead)));
  lead["x"] = std::string(kLeadBytesMax - 18, 'x');
  EXPECT_EQ(Fault(lead).kind, Kind::kTooLarge);
}

TEST(Lead, AFaultDoesNotRepeatWhatTheClientSent) {
  const LeadFault fault = Fault({{"name", std::string(600, 'Q')}});
  EXPECT_EQ(fault.message.find('Q'), std::string::npos);
}

TEST(Lead, LeadsThatAskForTheSamePersonHaveOneKey) {
  const auto key = [](const char* json) { return LeadKey(Read(json)); };
  const auto ann = key(R"({"name": "Ann Example", "domain": "acme.com"})");
  EXPECT_EQ(ann,
            key(R"({"full_name": " ANN   example", "website": "https://www.Acme.com", "x": 1})"));
  EXPECT_NE(ann, key(R"({"name": "Ann Exampl", "domain": "eacme.com"})"));
  EXPECT_NE(ann, key(R"({"first_name": "Ann Example", "domain": "acme.com"})"));
  const auto zola = key(R"({"name": "Émile Zola", "domain": "müller.example"})");
  EXPECT_EQ(zola, key(R"({"name": "ÉMILE ZOLA", "domain": "MÜLLER.example"})"));
  EXPECT_EQ(zola, key(R"({"name": "E\u0301mile Zola", "domain": "xn--mller-kva.example"})"));
  EXPECT_NE(zola, key(R"({"name": "Emile Zola", "domain": "müller.example"})"));
  EXPECT_NE(key(R"({"email": "A@x.org"})"), key(R"({"email": "a@x.org"})"))
      << "an address comes back as it was given";
}

TEST(Lead, ServicesAreToldTheKnownFieldsAlone) {
  EXPECT_EQ(
      base::DumpJson(PersonJson(Read(R"({"secret": "s", "name": "Ann", "domain": "acme.com"})"))),
      R"({"name":"Ann","first_name":null,"last_name":null,"company":null,)"
      R"("domain":"acme.com","linkedin":null,"email":null,"personal_email":null,)"
      R"("title":null,"location":null})");
}

}  // namespace
}  // namespace vedette::domain
