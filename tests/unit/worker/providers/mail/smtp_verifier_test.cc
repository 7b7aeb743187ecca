#include "worker/providers/mail/verifiers.h"

#include <gtest/gtest.h>

#include <future>
#include <optional>
#include <set>
#include <thread>

#include "config/lookup_config.h"
#include "config/parts.h"
#include "tests/unit/worker/providers/mail/scripted_mx.h"

namespace vedette::worker {
namespace {

using namespace std::chrono_literals;
using domain::AddressVerdict;
using domain::Verdict;
using vedette::test::kHangUp;
using vedette::test::kSilence;
using vedette::test::MxScript;
using vedette::test::ScriptedMx;

// What is known of mail servers, in this process alone, without an end of windows.
class MemoryInProcess final : public MailServerMemory {
 public:
  explicit MemoryInProcess(base::EventLoop& loop) : loop_(loop) {}

  void ReadDomain(const std::string& domain,
                  std::function<void(std::optional<domain::MailDomainFacts>)> done) override {
    const auto found = domains.find(domain);
    auto facts = found == domains.end() ? std::nullopt : std::optional(found->second);
    loop_.Post([done = std::move(done), facts = std::move(facts)] { done(facts); });
  }
  void SaveDomain(const domain::MailDomainFacts& facts) override { domains[facts.domain] = facts; }
  void Admit(const std::string& host_key, const std::vector<store::MailPermit>& permits,
             int recipients, std::function<void(store::MailAdmission)> done) override {
    store::MailAdmission admission;
    if (blocked.contains(host_key)) {
      admission.blocked_until = base::Timestamp::max();
    } else {
      admission.granted = true;
      for (const auto& permit : permits) {
        if (used[permit.key] + recipients > permit.cap) admission.granted = false;
      }
      admission.wait = 5min;
    }
    for (const auto& permit : permits) {
      if (admission.granted) used[permit.key] += recipients;
    }
    loop_.Post([done = std::move(done), admission] { done(admission); });
  }
  // What the fleet counts is the store's; of this one host alone.
  void NoteTrouble(const std::string& host_key, const store::MailTrouble& trouble,
                   const domain::MailBlockTimes& times) override {
    EXPECT_EQ(times.first, 30min);
    troubles.push_back(trouble.domain);
    if (std::set<std::string>(troubles.begin(), troubles.end()).size() == 3) {
      blocked[host_key] = trouble.last_reply;
    }
  }
  void NoteServed(const std::string& /*host_key*/) override {
    ++served;
    troubles.clear();
  }

  std::map<std::string, domain::MailDomainFacts> domains;
  std::map<std::string, int> used;
  std::map<std::string, std::string> blocked;
  std::vector<std::string> troubles;  // their domains; empty: of connections
  int served = 0;

 private:
  base::EventLoop& loop_;
};

// What the DNS says. A domain that is not named has the MX "mx.test", a host 127.0.0.1.
struct Names {
  std::map<std::string, net::DnsRecords<net::MxRecord>> mx;
  std::map<std::string, net::ResolveResult> addresses;
};

net::ResolveResult At(std::initializer_list<const char*> addresses) {
  net::ResolveResult result;
  for (const char* text : addresses) result.addresses.push_back(*net::IpAddress::Parse(text));
  return result;
}
net::ResolveResult Missing() {
  return {{}, "no data", true};
}
net::DnsRecords<net::MxRecord> Mx(std::initializer_list<const char*> hosts) {
  net::DnsRecords<net::MxRecord> records{net::DnsStatus::kFound, {}};
  for (const char* host : hosts) {
    records.records.push_back({static_cast<int>(records.records.size()), host});
  }
  return records;
}

struct Question {
  std::string address = "ann@acme.test";
  bool guess = false;
  int attempt = 0;
  bool may_wait = false;
  std::chrono::milliseconds timeout = 20s;
};

config::Config TestConfig() {
  config::Config config{};
  config::SmtpConfig& smtp = config.smtp;
  smtp.hello_name = "verify.example";
  smtp.ip = "4";
  smtp.per_domain_hour = smtp.per_class_minute = smtp.per_day = 10'000;
  smtp.connections_per_class = 4;
  smtp.recipients_max = 16;
  smtp.refusals_max = 5;
  smtp.linger_ms = 30ms;
  smtp.connect_timeout_ms = 5s;
  smtp.banner_timeout_ms = smtp.reply_timeout_ms = 400ms;
  smtp.connection_timeout_ms = 10s;
  return config;
}

class SmtpVerifierTest : public testing::Test {
 protected:
  ~SmtpVerifierTest() override {
    loop_.Run([this] {
      verifier_.reset();
      memory_.reset();
    });
  }

  void Build(int port) {
    config_.smtp.port = port;
    loop_.Run([this] {
      memory_ = std::make_unique<MemoryInProcess>(loop_.loop);
      verifier_ = std::make_unique<SmtpVerifier>(
          loop_.loop, clock_, metrics_, policy_, config_, *memory_,
          MailNames{[this](const std::string& domain, auto done) {
                      const auto found = names_.mx.find(domain);
                      Later(done, found == names_.mx.end() ? Mx({"mx.test"}) : found->second);
                    },
                    [this](const std::string& host, auto done) {
                      const auto found = names_.addresses.find(host);
                      Later(done,
                            found == names_.addresses.end() ? At({"127.0.0.1"}) : found->second);
                    }});
    });
  }

  template <typename Done, typename Value>
  void Later(Done done, Value value) {
    loop_.loop.Post([done = std::move(done), value = std::move(value)] { done(value); });
  }

  std::vector<LookupAnswer> AskAll(const std::vector<Question>& questions) {
    std::vector<std::promise<LookupAnswer>> promises(questions.size());
    loop_.Run([&] {
      for (std::size_t i = 0; i < questions.size(); ++i) {
        LookupRequest request;
        request.lookup = Lookup::kVerifyEmail;
        request.address = questions[i].address;
        request.guess = questions[i].guess;
        request.attempt = questions[i].attempt;
        request.may_wait = questions[i].may_wait;
        request.timeout = questions[i].timeout;
        verifier_->Start(std::move(request), [&promise = promises[i]](LookupAnswer answer) {
          promise.set_value(std::move(answer));
        });
      }
    });
    std::vector<LookupAnswer> answers;
    for (auto& promise : promises) answers.push_back(promise.get_future().get());
    return answers;
  }

  static std::string TextOf(const LookupAnswer& answer) {
    if (const auto* later = std::get_if<worker::Later>(&answer)) {
      return "LATER " + std::to_string(later->wait.count() / 60'000) + " min";
    }
    const auto& verdict = std::get<AddressVerdict>(answer);
    if (verdict.verdict == Verdict::kOk) return "OK";
    return (verdict.verdict == Verdict::kUnknown ? "UNKNOWN " : "NOT_FOUND ") +
           std::string(VerdictReasonName(verdict.reason));
  }
  std::string Ask(const Question& question) { return TextOf(AskAll({question})[0]); }
  std::vector<std::string> AskEach(const std::vector<std::string>& locals) {
    std::vector<Question> questions;
    for (const std::string& local : locals) questions.push_back({local + "@acme.test"});
    std::vector<std::string> said;
    for (const LookupAnswer& answer : AskAll(questions)) said.push_back(TextOf(answer));
    return said;
  }

  net::test::LoopThread loop_;
  base::SystemClock clock_;
  metrics::Metrics metrics_{"test"};
  net::AddressPolicy policy_{{"127.0.0.0/8"}};
  config::Config config_ = TestConfig();
  Names names_;
  std::unique_ptr<MemoryInProcess> memory_;
  std::unique_ptr<SmtpVerifier> verifier_;
};

using Said = std::vector<std::string>;

// --- one address, one server ---------------------------------------------------------------

struct Case {
  const char* name;
  MxScript script;
  std::string said;
  Question question{};
  std::string mx = "mx.test";
};

MxScript Rcpts(std::map<std::string, std::string> rcpt) {
  MxScript script;
  script.rcpt = std::move(rcpt);
  return script;
}
MxScript Ann(const std::string& reply) {
  return Rcpts({{"ann", reply}});
}
MxScript With(std::string MxScript::*field, const std::string& value) {
  MxScript script = Ann("250 ok");
  script.*field = value;
  return script;
}
Question Async(int attempt = 0) {
  return {"ann@acme.test", false, attempt, true, 20s};
}

TEST_F(SmtpVerifierTest, NobodyIsAskedPastAProxy) {
  ScriptedMx mx(Ann("250 ok"));
  config_.smtp.proxy = "socks5://127.0.0.1:1";  // where nobody listens
  Build(mx.port());
  EXPECT_NE(Ask({"ann@acme.test"}), "OK");
  config_.smtp.proxy = "socks5://localhost:1080";
  loop_.Run([this] {
    EXPECT_THROW(SmtpVerifier(loop_.loop, clock_, metrics_, policy_, config_, *memory_, {}),
                 std::bad_optional_access);
  });
  EXPECT_TRUE(mx.lines().empty());
}

class Dialogues : public SmtpVerifierTest, public testing::WithParamInterface<Case> {};

TEST_P(Dialogues, EndAsTheTableOfVerdictsSays) {
  const Case& one = GetParam();
  ScriptedMx mx(one.script);
  names_.mx["acme.test"] = Mx({one.mx.c_str()});
  Build(mx.port());
  EXPECT_EQ(Ask(one.question), one.said);
  for (const std::string& line : mx.lines()) {
    const std::string verb = line.substr(0, 4);
    EXPECT_TRUE(verb == "EHLO" || verb == "HELO" || verb == "STAR" || verb == "MAIL" ||
                verb == "RCPT" || verb == "RSET" || verb == "QUIT")
        << line;
  }
}

std::string Lines(int n) {
  std::string out;
  for (int i = 0; i < n; ++i) out += "220-x\r\n";
  return out + "220 x";
}

INSTANTIATE_TEST_SUITE_P(
    OfOneAddress, Dialogues,
    testing::Values(
        Case{"Accepted", Ann("250 2.1.5 ok"), "OK"}, Case{"Forwarded", Ann("251 will"), "OK"},
        Case{"BareControlWithPostmaster", Rcpts({{"ann", "250 ok"}, {"control", "550 no"}}), "OK"},
        Case{"BareControlWithoutPostmaster",
             Rcpts({{"ann", "250 ok"}, {"control", "550 no"}, {"postmaster", "550 no"}}),
             "UNKNOWN catch_all_unproven"},
        Case{"CatchAll", Rcpts({{"ann", "250 ok"}, {"control", "250 ok"}}), "UNKNOWN catch_all"},
        Case{"ControlAgainstPolicy", Rcpts({{"ann", "250 ok"}, {"control", "550 5.7.1 no"}}),
             "UNKNOWN catch_all_unproven"},
        Case{"ControlUnverified", Rcpts({{"ann", "250 ok"}, {"control", "252 maybe"}}),
             "UNKNOWN catch_all_unproven"},
        Case{"Unverified", Ann("252 maybe"), "UNKNOWN unverified_by_server"},
        Case{"NoMailbox", Ann("550 5.1.1 no"), "NOT_FOUND refused"},
        Case{"NoSystem", Ann("550 5.1.2 no"), "NOT_FOUND refused"},
        Case{"BadSyntaxThere", Ann("553 5.1.3 no"), "NOT_FOUND refused"},
        Case{"Moved", Ann("551 5.1.6 no"), "NOT_FOUND refused"},
        Case{"NullMxThere", Ann("556 5.1.10 no"), "NOT_FOUND refused"},
        Case{"MultiLineRefusal", Ann("550-5.1.1 no\r\n550 5.1.1 see help"), "NOT_FOUND refused"},
        Case{"Microsoft365",
             Ann("550 5.4.1 no"),
             "NOT_FOUND refused",
             {},
             "acme-test.mail.protection.outlook.com"},
        Case{"NotMicrosoft365", Ann("550 5.4.1 no"), "UNKNOWN refused_unclear"},
        Case{"Bare550", Ann("550 no"), "UNKNOWN refused_unclear"},
        Case{"Bare554", Ann("554 5.0.0 no"), "UNKNOWN refused_unclear"},
        Case{"OtherRefusal", Ann("550 5.3.0 no"), "UNKNOWN refused_unclear"},
        Case{"Disabled", Ann("550 5.2.1 no"), "UNKNOWN disabled"},
        Case{"Full", Ann("552 5.2.2 full"), "UNKNOWN full"},
        Case{"FullForNow", Ann("452 4.2.2 full"), "UNKNOWN full"},
        Case{"Bare552", Ann("552 full"), "UNKNOWN full"},
        Case{"SenderRefused", With(&MxScript::mail, "550 no"), "UNKNOWN sender_refused"},
        Case{"SenderRefusedAtRcpt", Ann("550 5.1.8 no"), "UNKNOWN sender_refused"},
        Case{"SenderSyntax", Ann("553 5.1.7 no"), "UNKNOWN sender_refused"},
        Case{"Policy", Ann("550 5.7.1 no"), "UNKNOWN policy"},
        Case{"PolicyAtMail", With(&MxScript::mail, "554 5.7.1 no"), "UNKNOWN policy"},
        Case{"PolicyInBanner", With(&MxScript::banner, "554 no"), "UNKNOWN policy"},
        Case{"PolicyAtHello", With(&MxScript::ehlo, "550 no"), "UNKNOWN policy"},
        Case{"TlsWanted", With(&MxScript::mail, "530 5.7.0 must STARTTLS"), "UNKNOWN policy"},
        Case{"LoginWanted", Ann("530 login"), "UNKNOWN policy"},
        Case{"LoginFailed", Ann("535 login"), "UNKNOWN policy"},
        Case{"NoUtf8There", Ann("553 5.6.7 no"), "UNKNOWN utf8_not_served"},
        Case{"NoUtf8Offered", Ann("250 ok"), "UNKNOWN utf8_not_served",
             Question{"j\xc3\xb6rg@acme.test"}},
        Case{"GreylistedWhileAClientWaits", Ann("451 later"), "UNKNOWN greylisted"},
        Case{"Greylisted", Ann("451 4.7.1 later"), "LATER 10 min", Async()},
        Case{"GreylistedAgain", Ann("450 later"), "LATER 40 min", Async(2)},
        Case{"GreylistedForGood", Ann("450 later"), "UNKNOWN greylisted", Async(3)},
        Case{"GreylistedAtMail", With(&MxScript::mail, "451 later"), "LATER 10 min", Async()},
        Case{"ControlGreylisted", Rcpts({{"ann", "250 ok"}, {"control", "450 later"}}),
             "LATER 10 min", Async()},
        Case{"ControlGreylistedForGood", Rcpts({{"ann", "250 ok"}, {"control", "450 later"}}),
             "UNKNOWN catch_all_unproven", Async(3)},
        Case{"Contradiction", Ann("450 5.1.1 no"), "UNKNOWN greylisted"},
        Case{"TooManyAtOnce", Ann("452 4.5.3 no"), "UNKNOWN greylisted"},
        Case{"ClosingAtRcpt", Ann("421 bye"), "UNKNOWN temporary"},
        Case{"ClosingInBanner", With(&MxScript::banner, "421 busy"), "UNKNOWN temporary"},
        Case{"BusyBanner", With(&MxScript::banner, "450 busy"), "UNKNOWN temporary"},
        Case{"HangsUpAtRcpt", Ann(kHangUp), "UNKNOWN temporary"},
        Case{"HangsUpAtOnce", With(&MxScript::banner, kHangUp), "UNKNOWN temporary"},
        Case{"SilentFromTheStart", With(&MxScript::banner, kSilence), "UNKNOWN timeout"},
        Case{"SilentAtRcpt", Ann(kSilence), "UNKNOWN timeout"},
        Case{"NoExtensions", With(&MxScript::ehlo, "502 what"), "OK"},
        Case{"LongBanner", With(&MxScript::banner, Lines(20)), "OK"},
        Case{"EndlessBanner", With(&MxScript::banner, Lines(70)), "UNKNOWN protocol"},
        Case{"NoMailServer", With(&MxScript::banner, "SSH-2.0-x"), "UNKNOWN protocol"},
        Case{"TwoCodesInAReply", With(&MxScript::ehlo, "250-a\r\n251 b"), "UNKNOWN protocol"},
        Case{"LongLine", With(&MxScript::ehlo, "250 " + std::string(5000, 'x')),
             "UNKNOWN protocol"},
        Case{"MoreRepliesThanDue", Ann("250 ok\r\n250 ok"), "UNKNOWN protocol"},
        Case{"ServiceReady", Ann("220 what"), "UNKNOWN protocol"}),
    [](const auto& one) { return std::string(one.param.name); });

TEST_F(SmtpVerifierTest, ATextBeforeTheHandshakeIsAProtocolFault) {
  MxScript script = Ann("250 ok");
  script.ehlo = "250-mx\r\n250 STARTTLS";
  script.starttls = "220 go\r\n250 injected";
  ScriptedMx mx(script);
  Build(mx.port());
  EXPECT_EQ(Ask({}), "UNKNOWN protocol");
}

TEST_F(SmtpVerifierTest, AfterAFailedHandshakeOneConnectionIsMadeWithoutTls) {
  MxScript script = Ann("250 ok");
  script.ehlo = "250-mx\r\n250 STARTTLS";
  ScriptedMx mx([script](int connection) {
    MxScript now = script;
    now.starttls = connection == 1 ? "220 go" : "454 no";
    return now;
  });
  Build(mx.port());
  // What this server says after its 220 is no TLS, as it answers the handshake like a command.
  const std::string said = Ask({});
  EXPECT_TRUE(said == "OK" || said == "UNKNOWN timeout") << said;
  EXPECT_GE(mx.connections(), 2);
}

// --- several addresses, several connections ------------------------------------------------

TEST_F(SmtpVerifierTest, ABareRefusalIsOneBesideALaterRecipientThatIsAccepted) {
  ScriptedMx mx(Rcpts({{"gone", "550 no"}, {"ann", "250 ok"}, {"control", "550 no"}}));
  Build(mx.port());
  EXPECT_EQ(AskEach({"gone", "ann"}), (Said{"NOT_FOUND refused", "OK"}));
  EXPECT_EQ(mx.connections(), 1);
}

TEST_F(SmtpVerifierTest, AnAcceptanceBeforeABareRefusalProvesNothing) {
  ScriptedMx mx(Rcpts({{"gone", "550 no"}, {"ann", "250 ok"}, {"control", "550 no"}}));
  Build(mx.port());
  EXPECT_EQ(AskEach({"ann", "gone"}), (Said{"OK", "UNKNOWN refused_unclear"}));
}

TEST_F(SmtpVerifierTest, AServerThatAcceptsEverythingAfterSomeErrorsIsACatchAll) {
  MxScript script;
  script.on_rcpt = [](const std::string&, int nth) { return nth <= 3 ? "550 5.1.1 no" : "250 ok"; };
  ScriptedMx mx(script);
  Build(mx.port());
  EXPECT_EQ(
      AskEach({"a.a", "b.b", "c.c", "ann"}),
      (Said{"NOT_FOUND refused", "NOT_FOUND refused", "NOT_FOUND refused", "UNKNOWN catch_all"}));
}

TEST_F(SmtpVerifierTest, AServerThatRefusesEverythingAfterSomeErrorsRefusesNobody) {
  MxScript script;
  script.on_rcpt = [](const std::string&, int nth) { return nth <= 1 ? "250 ok" : "550 no"; };
  ScriptedMx mx(script);
  Build(mx.port());
  EXPECT_EQ(AskEach({"ann", "bob"}),
            (Said{"UNKNOWN catch_all_unproven", "UNKNOWN refused_unclear"}));
}

TEST_F(SmtpVerifierTest, AServerThatHangsUpAfterARefusalIsAskedTheRestOnOneMoreConnection) {
  ScriptedMx mx([](int connection) {
    MxScript script;
    script.on_rcpt = [connection](const std::string& local, int nth) -> std::string {
      if (connection == 1) return nth == 1 ? "550 5.1.1 no" : kHangUp;
      return local == "ann" ? "250 ok" : "550 5.1.1 no";
    };
    return script;
  });
  Build(mx.port());
  EXPECT_EQ(AskEach({"gone", "ann"}), (Said{"NOT_FOUND refused", "OK"}));
  EXPECT_EQ(mx.connections(), 2);
}

TEST_F(SmtpVerifierTest, AHostThatTakesOneRecipientIsAskedTheControlOnAnotherConnection) {
  ScriptedMx mx(Ann("250 ok"));
  names_.mx["acme.test"] = Mx({"mta5.am0.yahoodns.net"});
  Build(mx.port());
  EXPECT_EQ(Ask({}), "OK");
  EXPECT_EQ(mx.connections(), 2);
  EXPECT_EQ(mx.Count("RCPT"), 2);
}

TEST_F(SmtpVerifierTest, AHostThatHasEnoughRecipientsIsGivenThatManyOnEach) {
  MxScript script;
  script.on_rcpt = [](const std::string& local, int nth) -> std::string {
    if (nth > 4) return "452 4.5.3 too many";
    return local == "control" ? "550 5.1.1 no" : "250 ok";
  };
  ScriptedMx mx(script);
  Build(mx.port());
  EXPECT_EQ(AskEach({"a.a", "b.b", "c.c", "d.d", "e.e", "f.f"}), Said(6, "OK"));
  EXPECT_EQ(memory_->domains.at("acme.test").recipients_max, 4);
}

TEST_F(SmtpVerifierTest, AllWhoAskAboutADomainShareOneConnection) {
  ScriptedMx mx(Rcpts({{"*", "250 ok"}}));
  Build(mx.port());
  std::vector<std::string> locals;
  for (int i = 0; i < 10; ++i) locals.push_back("p." + std::to_string(i));
  EXPECT_EQ(AskEach(locals), Said(10, "OK"));
  EXPECT_EQ(mx.connections(), 1);
  EXPECT_EQ(mx.Count("RCPT"), 11) << "ten addresses and one control";
}

TEST_F(SmtpVerifierTest, AHundredAddressesOfOneDomainNeedAtMostOneHundredAndTwentyRecipients) {
  ScriptedMx mx(Rcpts({{"*", "250 ok"}}));
  Build(mx.port());
  std::vector<std::string> locals;
  for (int i = 0; i < 100; ++i) locals.push_back("p." + std::to_string(i));
  EXPECT_EQ(AskEach(locals), Said(100, "OK"));
  EXPECT_LE(mx.Count("RCPT"), 120);
  EXPECT_LE(mx.connections(), 8);
}

TEST_F(SmtpVerifierTest, TheControlStaysTheSameSoThatAGreylistLetsItPass) {
  ScriptedMx mx([](int connection) {
    return connection == 1 ? Rcpts({{"ann", "451 later"}, {"control", "451 later"}})
                           : Ann("250 ok");
  });
  Build(mx.port());
  EXPECT_EQ(Ask(Async()), "LATER 10 min");
  const auto until = clock_.SinceBoot() + 30s;
  while (mx.Count("QUIT") == 0 && clock_.SinceBoot() < until) std::this_thread::sleep_for(1ms);
  EXPECT_EQ(Ask(Async(1)), "OK");
  std::vector<std::string> controls;
  for (const std::string& line : mx.lines()) {
    if (line.starts_with("RCPT") && line.find("ann@") == std::string::npos) {
      controls.push_back(line);
    }
  }
  ASSERT_EQ(controls.size(), 2U);
  EXPECT_EQ(controls[0], controls[1]);
}

// --- the DNS, and who is not asked ------------------------------------------------------------

class NotAsked : public SmtpVerifierTest {
 protected:
  NotAsked() : mx_(Rcpts({{"*", "250 ok"}})) { config_.smtp.port = mx_.port(); }
  std::string AskNow(const Question& question = {}) {
    if (!verifier_) Build(mx_.port());
    return Ask(question);
  }
  ScriptedMx mx_;
};

TEST_F(NotAsked, DomainsWithoutMail) {
  names_.mx["null.test"] = Mx({""});
  names_.mx["none.test"] = {net::DnsStatus::kNoRecord, {}};
  names_.addresses["none.test"] = Missing();
  names_.mx["gone.test"] = {net::DnsStatus::kNoName, {}};
  names_.mx["down.test"] = {net::DnsStatus::kFailed, {}};
  EXPECT_EQ(AskNow({"a@null.test"}), "NOT_FOUND null_mx");
  EXPECT_EQ(AskNow({"a@none.test"}), "NOT_FOUND no_mx");
  EXPECT_EQ(AskNow({"a@gone.test"}), "NOT_FOUND unknown_domain");
  EXPECT_EQ(AskNow({"a@down.test"}), "UNKNOWN dns");
  EXPECT_EQ(mx_.connections(), 0);
}

TEST_F(NotAsked, ADomainWithoutMxIsItsOwnHost) {
  names_.mx["acme.test"] = {net::DnsStatus::kNoRecord, {}};
  EXPECT_EQ(AskNow(), "OK");
}

TEST_F(NotAsked, HostsThatAreNotPublic) {
  for (const std::string inside : {"10.0.0.1", "192.168.1.1", "169.254.169.254", "168.63.129.16",
                                   "100.64.0.1", "0.0.0.0", "224.0.0.1"}) {
    names_.mx[inside + ".test"] = Mx({"inside.test"});
    names_.addresses["inside.test"] = At({inside.c_str()});
    EXPECT_EQ(AskNow({"a@" + inside + ".test"}), "UNKNOWN not_public") << inside;
  }
  EXPECT_EQ(mx_.connections(), 0);
}

TEST_F(NotAsked, HostsWithoutAnAddressAreFollowedByTheNext) {
  names_.mx["acme.test"] = Mx({"one.test", "two.test", "mx.test"});
  names_.addresses["one.test"] = Missing();
  names_.addresses["two.test"] = At({"10.0.0.1"});
  EXPECT_EQ(AskNow(), "OK");
}

TEST_F(NotAsked, HostsThatCannotBeReachedAreFollowedByTheNext) {
  names_.mx["acme.test"] = Mx({"down.test", "mx.test"});
  names_.addresses["down.test"] = At({"127.0.0.9"});
  EXPECT_EQ(AskNow(), "OK");
  names_.mx["dark.test"] = Mx({"down.test"});
  EXPECT_EQ(AskNow({"a@dark.test"}), "UNKNOWN connect");
}

TEST_F(NotAsked, WhatIsNoAddressAndWhatIsDisposable) {
  for (const char* text : {"", "ann", "ann@localhost", "ann@[127.0.0.1]", "a b@acme.test",
                           "ann@acme.test\r\nDATA", "<ann@acme.test>", "ann(x)@acme.test"}) {
    EXPECT_EQ(AskNow({text}), "NOT_FOUND invalid_address") << text;
  }
  EXPECT_EQ(AskNow({"ann@mailinator.com"}), "UNKNOWN disposable");
  EXPECT_EQ(mx_.connections(), 0);
}

TEST_F(NotAsked, AGuessAtADomainThatAcceptedItsControl) {
  Build(mx_.port());
  loop_.Run([this] {
    domain::MailDomainFacts facts{"acme.test"};
    facts.hosts = {"mx.test"};
    facts.mx_at = facts.control_at = clock_.Now();
    facts.control = "aaaaaaaaaaaaaaaa";
    facts.accepts_all = domain::AcceptsAll::kYes;
    facts.accepts_all_at = clock_.Now();
    memory_->domains["acme.test"] = facts;
  });
  EXPECT_EQ(AskNow({"ann@acme.test", true}), "UNKNOWN catch_all");
  EXPECT_EQ(mx_.connections(), 0);
  EXPECT_EQ(AskNow({"ann@acme.test", false}), "OK") << "a stated address is asked again";
}

TEST_F(NotAsked, WithoutAPermit) {
  config_.smtp.per_domain_hour = 2;
  EXPECT_EQ(AskNow(), "UNKNOWN rate");
  EXPECT_EQ(AskNow({"ann@acme.test", false, 0, true}), "LATER 5 min");
  EXPECT_EQ(mx_.connections(), 0);
}

TEST_F(NotAsked, MoreThanTheBudgetOfADomain) {
  config_.smtp.per_domain_hour = 20;
  Build(mx_.port());
  std::vector<std::string> locals;
  for (int i = 0; i < 60; ++i) locals.push_back("p." + std::to_string(i));
  AskEach(locals);
  EXPECT_LE(mx_.Count("RCPT"), 20);
}

TEST_F(SmtpVerifierTest, ThreeDomainsThatRefuseUsBlockTheHostAndSendNoMoreTraffic) {
  ScriptedMx mx(Ann("550 5.7.1 <ann@acme.test> is listed"));
  Build(mx.port());
  EXPECT_EQ(Ask({"ann@one.test"}), "UNKNOWN policy");
  EXPECT_EQ(Ask({"ann@two.test"}), "UNKNOWN policy");
  EXPECT_EQ(Ask({"ann@three.test"}), "UNKNOWN policy");
  const int connections = mx.connections();
  EXPECT_EQ(Ask({"ann@four.test"}), "UNKNOWN blocked");
  EXPECT_EQ(mx.connections(), connections);
  ASSERT_EQ(memory_->blocked.size(), 1U);
  EXPECT_EQ(memory_->blocked.begin()->second, "550 5.7.1 <address> is listed");
}

TEST_F(SmtpVerifierTest, DomainsWaitForTheirHostsConnectionByTurnsAndPassOverThoseThatGaveUp) {
  config_.smtp.connections_per_class = 1;
  ScriptedMx mx(Rcpts({{"ann", "250 ok"}, {"*", "550 5.1.1 unknown"}}));
  Build(mx.port());
  std::vector<Question> questions;
  for (int i = 0; i < 8; ++i) questions.push_back({"ann@d" + std::to_string(i) + ".test"});
  questions[2].timeout = questions[5].timeout = 1ms;  // the connection of the first stays for 30
  const auto answers = AskAll(questions);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    EXPECT_EQ(TextOf(answers[i]), i == 2 || i == 5 ? "UNKNOWN timeout" : "OK") << i;
  }
  EXPECT_EQ(mx.connections(), 6);
}

TEST_F(SmtpVerifierTest, AnAskWhoseTimeIsOverIsAnsweredAtOnce) {
  config_.smtp.banner_timeout_ms = 30s;
  ScriptedMx mx(With(&MxScript::banner, kSilence));
  Build(mx.port());
  EXPECT_EQ(Ask({"ann@acme.test", false, 0, false, 50ms}), "UNKNOWN timeout");
}

}  // namespace
}  // namespace vedette::worker
