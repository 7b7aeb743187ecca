#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <future>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "config/lookup_config.h"
#include "domain/people/people_request.h"
#include "tests/unit/net/site.h"
#include "worker/blocks/people_block.h"
#include "worker/providers/site_crawler.h"

// Lookups of people over sites on the loopback interface.
namespace vedette::worker::test {

// The suppression list, and what the organisation has found.
class PeopleMemory final : public EmailMemory {
 public:
  void Ask(domain::EmailQuestion question,
           std::function<void(std::optional<domain::EmailKnowledge>)> done) override {
    domain::EmailKnowledge known;
    for (const auto& key : question.keys) {
      if (std::find(listed.begin(), listed.end(), key) != listed.end()) {
        known.suppressed.push_back(key);
      }
    }
    for (const domain::EmailFact& fact : facts) {
      if (fact.address == question.address) known.facts.push_back(fact);
    }
    done(std::move(known));
  }
  void Learn(domain::EmailLesson, std::function<void()> done) override { done(); }

  std::vector<domain::SuppressionKey> listed;
  std::vector<domain::EmailFact> facts;
};

// One server stands for every host of a test: https://acme.com/team is its /acme.com/team. A host
// that was not added answers 404 to everything.
class PeopleFixture : public ::testing::Test {
 protected:
  PeopleFixture() : site_([this](const net::ServerRequest& request) { return Answer(request); }) {
    config_.email.pages_max = 8;
    config_.email.site_timeout_ms = std::chrono::seconds(20);
    config_.email.page_bytes_max = 1 << 20;
    config_.providers.breaker_failures = 1000;
    config_.providers.breaker_ms = std::chrono::seconds(30);
    loop_.Run([this] {
      client_ = std::make_unique<net::HttpClient>(loop_.loop, net_config_);
      fetcher_ = std::make_unique<html::Fetcher>(loop_.loop, *client_, *pool_, policy_, memory_,
                                                 budget_, "vedette-test/1");
      providers_ = std::make_unique<ProviderSet>(clock_, metrics_, log_, config_.providers);
    });
  }
  ~PeopleFixture() override {
    pool_.reset();
    loop_.Run([this] {
      blocks_.clear();
      providers_.reset();
      fetcher_.reset();
      client_.reset();
    });
  }

  void Page(const std::string& url, std::string body, const char* type = "text/html") {
    const std::lock_guard lock(mutex_);
    pages_[url] = {200, {{"Content-Type", type}}, std::move(body)};
  }
  void Page(const std::string& url, net::ServerResponse answer) {
    const std::lock_guard lock(mutex_);
    pages_[url] = std::move(answer);
  }
  // "acme.com/team" of each request, in their order.
  std::vector<std::string> Asked() {
    std::vector<std::string> asked;
    for (const auto& request : site_.requests()) asked.push_back(request.path.substr(1));
    return asked;
  }
  OriginOf Origin() {
    return [this](const std::string& host) { return site_.Url("/" + host); };
  }
  template <typename T, typename... Arguments>
  void Add(Arguments&&... arguments) {
    loop_.Run([&] { providers_->Add(std::make_unique<T>(std::forward<Arguments>(arguments)...)); });
  }

  // The cell that the row becomes.
  base::Json Ask(domain::PeopleQuestion question, const base::Json& lead,
                 std::vector<std::string> providers = {}) {
    domain::PeopleRequest request;
    request.providers = std::move(providers);
    RowRequest row;
    row.row_id = base::Uuid::V4();
    row.org_id = base::Uuid::V4();
    row.job_id = base::Uuid::V4();
    row.cells = {base::DumpJson(domain::FindRowCell({lead, std::nullopt}))};
    row.timeout = std::chrono::seconds(20);
    auto promise = std::make_shared<std::promise<RowResult>>();
    auto future = promise->get_future();
    std::shared_ptr<RowRunner> runner;
    loop_.Run([&] {
      auto& block = blocks_.emplace_back(std::make_unique<PeopleBlock>(
          question, loop_.loop, clock_, metrics_, *providers_, known_, config_.lookups));
      auto bound = block->Bind(domain::PeopleSpecsJson(request), 5000);
      runner = std::get<std::shared_ptr<RowRunner>>(std::move(bound));
      runner->Start(std::move(row),
                    [promise](RowResult result) { promise->set_value(std::move(result)); });
    });
    const RowResult result = future.get();
    loop_.Run([&] { runner.reset(); });
    return base::ParseJsonOrThrow(std::get<RowDone>(result).cells.at(0));
  }
  // "store nothing", "website found", ..
  static std::vector<std::string> Tries(const base::Json& cell) {
    std::vector<std::string> tries;
    for (const base::Json& one : cell["details"]["tries"]) {
      tries.push_back(one["provider"].get<std::string>() + " " + one["outcome"].get<std::string>());
    }
    return tries;
  }

  struct {
    config::EmailConfig email{};
    config::LookupsConfig lookups{};
    config::ProvidersConfig providers{};
  } config_;
  const base::SystemClock clock_;
  metrics::Metrics metrics_{"test"};
  const base::Logger log_{base::LogLevel::kError, base::LogFormat::kText};
  const config::NetConfig& net_config_ = net::test::SiteNetConfig();
  const net::AddressPolicy policy_{{"127.0.0.0/8"}};
  html::PageMemory memory_{1 << 20};
  base::ByteBudget budget_{1 << 26, 0.1};
  PeopleMemory known_;
  std::mutex mutex_;
  std::map<std::string, net::ServerResponse> pages_;
  net::test::Site site_;
  net::test::LoopThread loop_;
  std::unique_ptr<base::ThreadPool> pool_ =
      std::make_unique<base::ThreadPool>("pages", base::ThreadPool::Limits{1, 64, 64});
  std::unique_ptr<net::HttpClient> client_;
  std::unique_ptr<html::Fetcher> fetcher_;
  std::unique_ptr<ProviderSet> providers_;
  std::vector<std::unique_ptr<PeopleBlock>> blocks_;

 private:
  net::ServerResponse Answer(const net::ServerRequest& request) {
    const std::lock_guard lock(mutex_);
    const auto found = pages_.find(request.path.substr(1));
    return found == pages_.end() ? net::ServerResponse{404, {}, ""} : found->second;
  }
};

}  // namespace vedette::worker::test
