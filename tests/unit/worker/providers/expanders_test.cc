// What the DNS and a page say of a subject of an investigation.
#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/text.h"
#include "html/html_document.h"
#include "tests/unit/worker/providers/findings.h"
#include "worker/providers/dns_expander.h"
#include "worker/providers/site_expander.h"

namespace vedette::worker {
namespace {

using domain::Finding;
using domain::FindingKind;
using domain::Subject;
using domain::SubjectKind;
using test::Said;
using testing::ElementsAre;
using testing::IsEmpty;

std::size_t Entities(const std::vector<Finding>& findings) {
  return static_cast<std::size_t>(
      std::count_if(findings.begin(), findings.end(),
                    [](const auto& f) { return f.kind == FindingKind::kEntity; }));
}

class DnsExpanderTest : public testing::Test {
 public:
  DnsExpanderTest()
      : expander({[this](const std::string& name, auto done) {
                    asked.push_back("mx " + name);
                    done({net::DnsStatus::kFound, {{10, "MX.example"}, {0, ""}}});
                  },
                  [this](const std::string& name, auto done) {
                    asked.push_back("txt " + name);
                    done({net::DnsStatus::kFound, texts});
                  },
                  [this](const std::string& name, auto done) {
                    asked.push_back("a " + name);
                    net::ResolveResult result;
                    result.addresses.push_back(*net::IpAddress::Parse("192.0.2.7"));
                    done(result);
                  },
                  [this](const net::IpAddress& ip, auto done) {
                    asked.push_back("ptr " + ip.ToString());
                    done({net::DnsStatus::kNoName, {}});
                  },
                  [this](const std::string& name, auto done) {
                    asked.push_back("ns " + name);
                    done({net::DnsStatus::kFound, {"NS1.host.example"}});
                  }}) {}

  std::vector<Finding> Expand(SubjectKind type, const std::string& value,
                              std::function<bool()> may_call = {}) {
    std::vector<Finding> found;
    ExpandRequest request;
    request.subject = {type, value};
    request.may_call = std::move(may_call);
    expander.Start(std::move(request), [&](ExpandAnswer answer) {
      found = std::get<std::vector<Finding>>(std::move(answer));
    });
    return found;
  }

  std::vector<std::string> asked;
  std::vector<std::string> texts{"v=spf1 -all"};
  DnsExpander expander;
};

TEST_F(DnsExpanderTest, ADomainHasMailServersNameServersTextsAndAddresses) {
  const auto found = Expand(SubjectKind::kDomain, "a.example");
  EXPECT_THAT(Said(found), ElementsAre("mail_server mx.example", "name_server ns1.host.example",
                                       "dns_text v=spf1 -all", "address 192.0.2.7"));
  EXPECT_EQ(Entities(found), 3U);
  EXPECT_THAT(asked, ElementsAre("mx a.example", "ns a.example", "txt a.example", "a a.example"));
  EXPECT_EQ(found[0].provider, "dns");
  EXPECT_EQ(found[0].evidence, "MX 10 MX.example");
}

TEST_F(DnsExpanderTest, ATextOfAnyBytesAndOfAnyLengthCanBeWritten) {
  texts = {std::string("a\0b\xff", 4), std::string(70'000, 'x')};
  const auto found = Expand(SubjectKind::kDomain, "a.example");
  EXPECT_THAT(Said(found), testing::Contains("dns_text a\xEF\xBF\xBD"
                                             "b\xEF\xBF\xBD"));
  const std::string cut = std::string(domain::kSubjectCharsMax - 3, 'x') + "...";
  EXPECT_THAT(Said(found), testing::Contains("dns_text " + cut));
  for (const Finding& one : found) {
    EXPECT_LE(one.evidence.size(), domain::kSubjectCharsMax + 4);
    EXPECT_EQ(one.evidence, base::RepairUtf8(one.evidence));
  }
}

TEST_F(DnsExpanderTest, AnAddressOfEmailLeadsToItsDomainAndAnIpToItsNames) {
  EXPECT_THAT(Said(Expand(SubjectKind::kEmail, "ada@a.example")),
              ElementsAre("at_domain a.example"));
  EXPECT_THAT(asked, IsEmpty());
  EXPECT_THAT(Expand(SubjectKind::kIp, "192.0.2.7"), IsEmpty());
  EXPECT_THAT(Expand(SubjectKind::kIp, "1.2.3"), IsEmpty());
  EXPECT_THAT(asked, ElementsAre("ptr 192.0.2.7"));
}

TEST_F(DnsExpanderTest, NobodyIsAskedOnceTheRowIsNotHeld) {
  EXPECT_THAT(Expand(SubjectKind::kDomain, "a.example", [] { return false; }), IsEmpty());
  EXPECT_THAT(asked, IsEmpty());
}

// A reply of a DNS server: a question for the NS of a.example, and two records that answer it.
std::string NameServersReply() {
  const std::string question(
      "\x01"
      "a\x07"
      "example\0\0\x02\0\x01",
      15);
  std::string reply("\0\x07\x81\x80\0\x01\0\x02\0\0\0\0", 12);
  reply += question;
  for (const char* label : {"ns1", "ns2"}) {
    reply += std::string("\xc0\x0c\0\x02\0\x01\0\0\0\x3c\0\x06\x03", 13) + label + "\xc0\x0c";
  }
  return reply;
}

TEST(DnsRecords, NameServersAreNames) {
  const std::string reply = NameServersReply();
  net::DnsRecords<std::string> records;
  const auto* bytes = reinterpret_cast<const unsigned char*>(reply.data());
  net::ReadDnsAnswer(0, bytes, static_cast<int>(reply.size()), &records);
  EXPECT_EQ(records.status, net::DnsStatus::kFound);
  EXPECT_THAT(records.records, ElementsAre("ns1.a.example", "ns2.a.example"));
  records = {};
  net::ReadDnsAnswer(0, bytes, static_cast<int>(reply.size()) - 3, &records);
  EXPECT_EQ(records.status, net::DnsStatus::kFailed) << "one that was cut";
}

TEST(PageFindings, APageGivesAddressesPersonsAndWhereItLeads) {
  html::ExtractionStop stop;
  const auto page = html::FindAddressesOnPage(
      R"html(<html><body><a href="mailto:Ada@a.example">write</a> <a href="/team">team</a>
         <a href="/team#top">team again</a> <a href="https://other.example/x">other</a>
         <a href="javascript:go">no</a>
         <script type="application/ld+json">{"@type":"Person","name":"Ada Lovelace"}</script>
         </body></html>)html",
      stop);
  const auto found =
      PageFindings({}, {SubjectKind::kDomain, "a.example"}, "https://a.example/", page);
  EXPECT_THAT(Said(found), ElementsAre("person Ada Lovelace", "email ada@a.example",
                                       "page https://a.example/team", "links_to other.example"));
  EXPECT_EQ(Entities(found), 4U);
  EXPECT_THAT(found[0].sources, ElementsAre("https://a.example/"));
}

TEST(PageFindings, LinksAreBounded) {
  html::AddressesOnPage page;
  for (int i = 0; i < 500; ++i) page.links.push_back({"/p" + std::to_string(i), ""});
  EXPECT_EQ(
      PageFindings({}, {SubjectKind::kDomain, "a.example"}, "https://a.example/", page).size(),
      2 * kPageLinksFoundMax);
}

}  // namespace
}  // namespace vedette::worker
