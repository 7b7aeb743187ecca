// Subjects and findings of investigations.
#include <gmock/gmock.h>

#include <stdexcept>

#include "base/json.h"
#include "domain/investigation/finding.h"

namespace vedette::domain {
namespace {

std::string Read(SubjectKind type, std::string_view value) {
  const auto read = ReadSubject(type, value);
  const auto* subject = std::get_if<Subject>(&read);
  return subject == nullptr ? "no: " + std::get<std::string>(read) : subject->value;
}

TEST(Subject, HasOneSpelling) {
  EXPECT_EQ(Read(SubjectKind::kEmail, " Ada.L@Acme.Example "), "ada.l@acme.example");
  EXPECT_EQ(Read(SubjectKind::kDomain, "Acme.Example."), "acme.example");
  EXPECT_EQ(Read(SubjectKind::kEmail, "ZOÉ@MÜLLER.example"), "zoé@xn--mller-kva.example");
  EXPECT_EQ(Read(SubjectKind::kDomain, "MÜLLER.example"), "xn--mller-kva.example");
  EXPECT_EQ(Read(SubjectKind::kUrl, " https://Acme.example/A "), "https://Acme.example/A");
  EXPECT_EQ(Read(SubjectKind::kPerson, " Ada  Lovelace "), "Ada  Lovelace");
  EXPECT_EQ(Read(SubjectKind::kIp, "2001:db8::1"), "2001:db8::1");
}

TEST(Subject, IsOfItsType) {
  for (const auto& [type, value] : std::initializer_list<std::pair<SubjectKind, const char*>>{
           {SubjectKind::kEmail, "acme.example"},
           {SubjectKind::kDomain, "acme"},
           {SubjectKind::kDomain, "https://acme.example"},
           {SubjectKind::kUrl, "acme.example"},
           {SubjectKind::kUrl, "javascript:alert(1)"},
           {SubjectKind::kIp, "acme.example"},
           {SubjectKind::kIp, "999.1.1.1"},
           {SubjectKind::kIp, "1."},
           {SubjectKind::kIp, ":"},
           {SubjectKind::kIp, "[2001:db8::1]"},
           {SubjectKind::kPerson, "  "}}) {
    EXPECT_TRUE(Read(type, value).starts_with("no: ")) << value;
  }
  EXPECT_TRUE(Read(SubjectKind::kPerson, std::string(501, 'x')).starts_with("no: "));
  EXPECT_THROW(SubjectOf(base::ParseJsonOrThrow(R"({"type": "car", "value": "x"})")),
               std::invalid_argument);
}

TEST(Subject, IsPaidForWhereAProviderMayLookAtIt) {
  EXPECT_TRUE(MayBeLookedAt(SubjectKind::kDomain));
  EXPECT_TRUE(MayBeLookedAt(SubjectKind::kCompany)) << "where lookups is a provider";
  EXPECT_FALSE(MayBeLookedAt(SubjectKind::kPerson));
  EXPECT_FALSE(MayBeLookedAt(SubjectKind::kPhone));
}

TEST(Finding, TheSameOneHasTheSameIdWhateverItsEvidence) {
  const base::Uuid id = base::Uuid::V4();
  Finding finding;
  finding.subject = {SubjectKind::kDomain, "a.example"};
  finding.predicate = "mail_server";
  finding.object = FindingObject{"domain", "mx.example"};
  Finding same = finding;
  same.evidence = "seen again";
  same.sources = {"https://a.example/"};
  EXPECT_EQ(FindingId(id, finding), FindingId(id, same));
  EXPECT_EQ(FindingId(id, finding),
            base::Uuid::V5(id, "relation|domain:a.example|mail_server|domain:mx.example"));
  same.object->value = "other.example";
  EXPECT_NE(FindingId(id, finding), FindingId(id, same));
  EXPECT_NE(FindingId(id, finding), FindingId(base::Uuid::V4(), finding));
}

TEST(Finding, AnEntityIsDerivedFromItsRelationAndIsTheSameWhereverItWasFound) {
  const base::Uuid id = base::Uuid::V4();
  const Subject to{SubjectKind::kDomain, "mx.example"};
  const auto first = RelationTo(id, {SubjectKind::kDomain, "a.example"}, "mail_server", to, {});
  const auto second = RelationTo(id, {SubjectKind::kDomain, "b.example"}, "links_to", to, {});
  ASSERT_EQ(first.size(), 2U);
  EXPECT_EQ(first[1].derived_from, (std::vector<base::Uuid>{FindingId(id, first[0])}));
  EXPECT_EQ(FindingId(id, first[1]), FindingId(id, second[1]));
  EXPECT_NE(FindingId(id, first[0]), FindingId(id, second[0]));
}

TEST(Finding, IsReadBackAsItWasWritten) {
  Finding finding;
  finding.kind = FindingKind::kAttribute;
  finding.subject = {SubjectKind::kEmail, "a@b.example"};
  finding.predicate = "p";
  finding.object = FindingObject{"text", "\"x\"\n"};
  finding.confidence = 7.5;
  finding.evidence = std::string(400, 'e');
  finding.sources = {"https://b.example/"};
  finding.provider = "website";
  finding.derived_from = {base::Uuid::V4()};
  const auto read = ReadFindings(WriteFindings({finding, Finding{}}));
  ASSERT_EQ(read.size(), 2U);
  EXPECT_EQ(read[0].subject, finding.subject);
  EXPECT_EQ(read[0].object->value, finding.object->value);
  EXPECT_EQ(read[0].confidence, 7.5);
  EXPECT_EQ(read[0].evidence.size(), kEvidenceCharsMax);
  EXPECT_EQ(read[0].derived_from, finding.derived_from);
  EXPECT_FALSE(read[1].object || read[1].confidence || read[1].is_expandable);
  finding.is_expandable = false;
  EXPECT_EQ(ReadFindings(WriteFindings({finding}))[0].is_expandable, false);
  EXPECT_THROW(ReadFindings("{}"), std::invalid_argument);
  EXPECT_THROW(ReadFindings(R"({"findings": [{"kind": "x"}]})"), std::invalid_argument);
}

TEST(Finding, WhatOneSubjectGivesIsBounded) {
  Finding large;
  large.object = FindingObject{"text", std::string(1000, 'x')};
  EXPECT_LT(WriteFindings(std::vector<Finding>(1000, large)).size(), kFindingsBytesMax + 100);
  EXPECT_EQ(ReadFindings(WriteFindings(std::vector<Finding>(1000))).size(), kFindingsOfSubjectMax);
}

}  // namespace
}  // namespace vedette::domain
