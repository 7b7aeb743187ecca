#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <future>
#include <map>

#include "config/lookup_config.h"
#include "domain/email/find_request.h"
#include "tests/unit/net/support.h"
#include "worker/blocks/find_email.h"
#include "worker/blocks/waterfall.h"
#include "worker/providers/pattern_provider.h"
#include "worker/providers/provider.h"

// What the tests of the block "find_email" share: providers that say what they were told to, a
// memory of the organisation, and rows that are worked on.
namespace vedette::worker {

using namespace std::chrono_literals;  // NOLINT(google-build-using-namespace)
using domain::AddressStatus;
using domain::Candidates;
using domain::FindMode;

inline LookupAnswer Address(const char* address, AddressStatus status) {
  return Candidates{{address, true, status, 7, {}, ""}};
}
inline LookupAnswer Failed(const char* error_class, bool retryable) {
  return domain::Failure{error_class, "It failed.", retryable, std::nullopt};
}

// Answers what it was told to, in that order, and Nothing after it.
class Scripted final : public Provider {
 public:
  Scripted(std::string id, std::deque<LookupAnswer> answers, std::vector<LookupRequest>* asked)
      : id_(std::move(id)), answers_(std::move(answers)), asked_(asked) {}
  std::string_view id() const override { return id_; }
  void Start(LookupRequest request, std::function<void(LookupAnswer)> done) override {
    asked_->push_back(std::move(request));
    if (answers_.empty()) return done(Nothing{});
    const LookupAnswer answer = answers_.front();
    answers_.pop_front();
    done(answer);
  }

 private:
  const std::string id_;
  std::deque<LookupAnswer> answers_;
  std::vector<LookupRequest>* const asked_;
};

// Keeps what it is told, for all organisations alike.
class FakeMemory final : public EmailMemory {
 public:
  void Ask(domain::EmailQuestion question,
           std::function<void(std::optional<domain::EmailKnowledge>)> done) override {
    if (is_away) return done(std::nullopt);
    domain::EmailKnowledge known;
    for (const auto& key : question.keys) {
      const bool is_listed = std::find(listed.begin(), listed.end(), key) != listed.end();
      if (is_listed) known.suppressed.push_back(key);
    }
    for (const domain::EmailFact& fact : facts) {
      const bool is_persons = !fact.person_key.empty() && fact.person_key == question.person_key;
      const bool is_asked =
          fact.address == question.address || fact.address == question.work_address;
      if (is_persons || is_asked) known.facts.push_back(fact);
    }
    if (question.domain == "acme.com") {
      for (const auto& [pattern, count] : patterns) known.patterns.push_back(count);
    }
    for (const auto& [named, hits] : companies) {
      if (named.first == question.company_key)
        known.company_domains.push_back({named.second, hits});
    }
    done(std::move(known));
  }
  void Learn(domain::EmailLesson lesson, std::function<void()> done) override {
    facts.insert(facts.end(), lesson.facts.begin(), lesson.facts.end());
    for (const auto& count : lesson.patterns) {
      auto& kept =
          patterns.try_emplace(count.pattern, domain::PatternCount{count.pattern}).first->second;
      kept.hits += count.hits;
      kept.misses += count.misses;
    }
    if (!lesson.company_key.empty()) ++companies[{lesson.company_key, lesson.domain}];
    done();
  }

  std::vector<domain::SuppressionKey> listed;
  std::vector<domain::EmailFact> facts;
  std::map<domain::AddressPattern, domain::PatternCount> patterns;
  std::map<std::pair<std::string, std::string>, int> companies;  // key and domain: how often named
  bool is_away = false;
};

// A mail server in one function: what it says of an address.
class Verifier final : public Provider {
 public:
  using Answers = std::function<LookupAnswer(const LookupRequest&)>;
  Verifier(Answers answers, std::vector<LookupRequest>* asked)
      : answers_(std::move(answers)), asked_(asked) {}
  std::string_view id() const override { return "smtp"; }
  void Start(LookupRequest request, std::function<void(LookupAnswer)> done) override {
    asked_->push_back(request);
    done(answers_(request));
  }

 private:
  const Answers answers_;
  std::vector<LookupRequest>* const asked_;
};

inline LookupAnswer Says(domain::Verdict verdict,
                         domain::VerdictReason reason = domain::VerdictReason::kNone) {
  return domain::AddressVerdict{verdict, reason, {}, base::Timestamp(std::chrono::hours(500'000))};
}
inline Verifier::Answers OnlyKnows(std::string address) {
  return [address = std::move(address)](const LookupRequest& request) {
    return request.address == address
               ? Says(domain::Verdict::kOk)
               : Says(domain::Verdict::kRefused, domain::VerdictReason::kRefused);
  };
}
inline LookupAnswer SaysLater() {
  Later later;
  later.wait = 10min;
  later.verdict.reason = domain::VerdictReason::kGreylisted;
  return later;
}

inline domain::FindRequest Request(FindMode mode = FindMode::kProfessional) {
  domain::FindRequest request;
  request.mode = mode;
  return request;
}

class FindEmail : public testing::Test {
 protected:
  FindEmail() {
    config_.find_email = {"a", "b"};
    config_.find_email_personal = {"b"};
    config_.candidates_max = 3;
    providers_config_.breaker_failures = 5;
    providers_config_.breaker_ms = 30s;
    loop_.Run([this] {
      providers_ = std::make_unique<ProviderSet>(clock_, metrics_, log_, providers_config_);
      MakeBlock("");
    });
  }
  void MakeBlock(const char* verifier, const char* by_dns = "") {
    block_ = std::make_unique<FindEmailBlock>(loop_.loop, clock_, metrics_, *providers_, memory_,
                                              config_, FindEmailBlock::Verifiers{verifier, by_dns});
  }
  ~FindEmail() override {
    loop_.Run([this] {
      block_.reset();
      providers_.reset();
    });
  }

  void Add(const char* id, std::deque<LookupAnswer> answers) {
    loop_.Run(
        [&] { providers_->Add(std::make_unique<Scripted>(id, std::move(answers), &asked_[id])); });
  }

  // The finders of our own, and a mail server.
  void AddOwn(Verifier::Answers answers) {
    config_.find_email = {"store", "pattern"};
    config_.guesses_max = 10;
    loop_.Run([&] {
      providers_->Add(std::make_unique<StoreProvider>(memory_));
      providers_->Add(std::make_unique<PatternProvider>(memory_, 10));
      providers_->Add(std::make_unique<Verifier>(std::move(answers), &asked_["smtp"]));
      MakeBlock("smtp");
    });
  }

  std::shared_ptr<RowRunner> Bind(const domain::FindRequest& request) {
    auto bound = block_->Bind(domain::FindSpecsJson(request), 5000);
    return std::get<std::shared_ptr<RowRunner>>(std::move(bound));
  }

  // A row that has ended is recorded at once.
  RowResult Run(RowRunner& runner, RowRequest row) {
    RowResult result = RunUnrecorded(runner, std::move(row));
    const auto* done = std::get_if<RowDone>(&result);
    if (done != nullptr && done->recorded) loop_.Run([done] { done->recorded(); });
    return result;
  }
  RowResult RunUnrecorded(RowRunner& runner, RowRequest row) {
    auto promise = std::make_shared<std::promise<RowResult>>();
    auto future = promise->get_future();
    loop_.Run([&] {
      runner.Start(std::move(row),
                   [promise](RowResult result) { promise->set_value(std::move(result)); });
    });
    return future.get();
  }
  RowDone Work(const domain::FindRequest& request, const char* cell) {
    const auto runner = Bind(request);
    return std::get<RowDone>(Run(*runner, Row(cell)));
  }
  static RowRequest Row(const char* cell) {
    RowRequest row;
    row.row_id = base::Uuid::V4();
    row.org_id = base::Uuid::V4();
    row.job_id = base::Uuid::V4();
    row.cells = {cell};
    row.timeout = 20s;
    return row;
  }
  static base::Json CellOf(const RowDone& done) {
    EXPECT_EQ(done.cells.size(), 1U);
    return base::ParseJsonOrThrow(done.cells.at(0));
  }

  const base::SystemClock clock_;
  metrics::Metrics metrics_{"test"};
  const base::Logger log_{base::LogLevel::kInfo, base::LogFormat::kText};
  config::LookupsConfig config_{};
  config::ProvidersConfig providers_config_{};
  net::test::LoopThread loop_;
  FakeMemory memory_;
  std::map<std::string, std::vector<LookupRequest>> asked_;
  std::unique_ptr<ProviderSet> providers_;
  std::unique_ptr<FindEmailBlock> block_;
};

inline constexpr const char* kAnn =
    R"({"name": "Ann Zyxwvut", "domain": "acme.com", "mine": "SECRET"})";

}  // namespace vedette::worker
