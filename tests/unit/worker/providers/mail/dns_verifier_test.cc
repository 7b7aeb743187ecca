#include "worker/providers/mail/verifiers.h"

#include <gtest/gtest.h>

#include <future>
#include <map>

#include "tests/unit/net/support.h"

namespace vedette::worker {
namespace {

using namespace std::chrono_literals;

// Knows one domain, and is asked nothing else.
class Memory final : public MailServerMemory {
 public:
  explicit Memory(base::EventLoop& loop) : loop_(loop) {}
  void ReadDomain(const std::string& domain,
                  std::function<void(std::optional<domain::MailDomainFacts>)> done) override {
    std::optional<domain::MailDomainFacts> facts;
    if (domain == known.domain) facts = known;
    loop_.Post([done = std::move(done), facts] { done(facts); });
  }
  void SaveDomain(const domain::MailDomainFacts&) override {}
  void Admit(const std::string&, const std::vector<store::MailPermit>&, int,
             std::function<void(store::MailAdmission)>) override {
    ADD_FAILURE() << "no mail server is asked";
  }
  void NoteTrouble(const std::string&, const store::MailTrouble&,
                   const domain::MailBlockTimes&) override {}
  void NoteServed(const std::string&) override {}

  domain::MailDomainFacts known{"known.test"};

 private:
  base::EventLoop& loop_;
};

class DnsVerifierTest : public testing::Test {
 protected:
  DnsVerifierTest() {
    mx_["mail.test"] = {net::DnsStatus::kFound, {{10, "mx.mail.test"}}};
    mx_["null.test"] = {net::DnsStatus::kFound, {{0, ""}}};
    mx_["gone.test"] = {net::DnsStatus::kNoName, {}};
    mx_["down.test"] = {net::DnsStatus::kFailed, {}};
    mx_["host.test"] = mx_["none.test"] = mx_["dark.test"] = {net::DnsStatus::kNoRecord, {}};
    addresses_["host.test"] = {{*net::IpAddress::Parse("192.0.2.1")}, "", false};
    addresses_["none.test"] = {{}, "no data", true};
    addresses_["dark.test"] = {{}, "failed", false};
    loop_.Run([this] {
      memory_ = std::make_unique<Memory>(loop_.loop);
      memory_->known.mx_at = clock_.Now();
      memory_->known.kind = domain::MailDomainKind::kNullMx;
      verifier_ = std::make_unique<DnsVerifier>(
          loop_.loop, clock_, *memory_,
          MailNames{[this](const std::string& domain, auto done) {
                      ++asked_;
                      if (domain == "silent.test") return;
                      loop_.loop.Post([done, answer = mx_[domain]] { done(answer); });
                    },
                    [this](const std::string& host, auto done) {
                      loop_.loop.Post([done, answer = addresses_[host]] { done(answer); });
                    }});
    });
  }
  ~DnsVerifierTest() override {
    loop_.Run([this] {
      verifier_.reset();
      memory_.reset();
    });
  }

  std::string Ask(const std::string& address, std::chrono::milliseconds timeout = 20s) {
    std::promise<LookupAnswer> promise;
    loop_.Run([&] {
      LookupRequest request;
      request.lookup = Lookup::kVerifyEmail;
      request.address = address;
      request.timeout = timeout;
      verifier_->Start(std::move(request),
                       [&](LookupAnswer answer) { promise.set_value(std::move(answer)); });
    });
    const auto answer = promise.get_future().get();
    const auto& verdict = std::get<domain::AddressVerdict>(answer);
    const char* status = verdict.verdict == domain::Verdict::kRefused ? "NOT_FOUND " : "UNKNOWN ";
    return status + std::string(VerdictReasonName(verdict.reason));
  }

  std::map<std::string, net::DnsRecords<net::MxRecord>> mx_;
  std::map<std::string, net::ResolveResult> addresses_;
  int asked_ = 0;
  base::SystemClock clock_;
  net::test::LoopThread loop_;
  std::unique_ptr<Memory> memory_;
  std::unique_ptr<DnsVerifier> verifier_;
};

TEST_F(DnsVerifierTest, WhatNoServerCanHaveIsRefusedAndNothingElseIsChecked) {
  EXPECT_EQ(Ask("ann@mail.test"), "UNKNOWN not_verified");
  EXPECT_EQ(Ask("ann@host.test"), "UNKNOWN not_verified") << "its own host takes its mail";
  EXPECT_EQ(Ask("ann@null.test"), "NOT_FOUND null_mx");
  EXPECT_EQ(Ask("ann@gone.test"), "NOT_FOUND unknown_domain");
  EXPECT_EQ(Ask("ann@none.test"), "NOT_FOUND no_mx");
  EXPECT_EQ(Ask("ann@down.test"), "UNKNOWN dns");
  EXPECT_EQ(Ask("ann@dark.test"), "UNKNOWN dns");
  EXPECT_EQ(Ask("ann@mailinator.com"), "UNKNOWN disposable");
  EXPECT_EQ(Ask("ann@acme.test\r\nDATA"), "NOT_FOUND invalid_address");
}

TEST_F(DnsVerifierTest, WhatTheFleetKnowsIsNotAskedAgain) {
  EXPECT_EQ(Ask("ann@known.test"), "NOT_FOUND null_mx");
  EXPECT_EQ(asked_, 0);
  loop_.Run([this] { memory_->known.mx_at -= domain::kMxLife + 1h; });
  mx_["known.test"] = mx_["mail.test"];
  EXPECT_EQ(Ask("ann@known.test"), "UNKNOWN not_verified");
}

TEST_F(DnsVerifierTest, ASilentDnsEndsWithTheTimeOfTheQuestion) {
  EXPECT_EQ(Ask("ann@silent.test", 50ms), "UNKNOWN timeout");
}

}  // namespace
}  // namespace vedette::worker
