#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/byte_budget.h"
#include "base/clock.h"
#include "base/uuid.h"
#include "config/config_fwd.h"
#include "domain/email/address.h"
#include "domain/monitor/failure.h"
#include "html/fetch.h"
#include "lease/live.h"
#include "net/http_client.h"
#include "worker/providers/may_call.h"
#include "worker/providers/provider.h"
#include "worker/providers/site_crawler.h"
#include "worker/services/request_room.h"

// Reading of a service over HTTP: one GET, one answer.
namespace vedette::worker {

struct GetService {
  std::string name;     // "Wikidata", for messages
  std::string api_key;  // sent as bearer token; empty: none
  std::string user_agent;
  std::size_t body_bytes_max = 0;  // of an answer
};

struct GetQuestion {
  base::Uuid org_id;                    // who shares memory and connections with others
  std::string url;                      // under the operator's: exempt from G9, never redirected
  std::chrono::milliseconds timeout{};  // waits for a connection included
  MayCall may_call{};                   // asked when the request has its turn
};

// The answer with the status 200 or 404, whose body counts in the budget until the last copy goes,
// or why there is none:
//   dns, connect, tls, timeout, http_status, protocol, body_too_large, overloaded, shutdown
using GetAnswer = std::variant<net::HttpResponse, domain::Failure>;

// Asks one service. Loop thread only. Everything handed in must outlive this object.
class ServiceGetter {
 public:
  ServiceGetter(net::HttpClient& client, base::ByteBudget& answers, const base::Clock& clock,
                GetService service);

  // `done` is called once, later; never after this object has ended.
  void Get(GetQuestion question, std::function<void(GetAnswer)> done);

 private:
  GetAnswer AnswerOf(net::HttpResponse response) const;

  net::HttpClient& client_;
  base::ByteBudget& answers_;
  const base::Clock& clock_;
  const GetService service_;
  lease::Live live_;
};

// Asks Gravatar (v3 of its API) for the public profile of an address, by the SHA-256 of it in lower
// case. A third party so learns of the address: there is this provider only where the operator has
// set [providers.gravatar] url. Serves reverse_email alone. Its failures: those of GetAnswer, and
// invalid_answer; a 429 carries its Retry-After.
class GravatarProvider final : public Provider {
 public:
  static constexpr std::string_view kId = "gravatar";
  static constexpr int kConfidence = 5;

  // Everything handed in must outlive this object.
  GravatarProvider(net::HttpClient& client, const ServiceBudgets& budgets, const base::Clock& clock,
                   const config::GravatarConfig& config, const std::string& user_agent);

  std::string_view id() const override { return kId; }
  void Start(LookupRequest request, std::function<void(LookupAnswer)> done) override;

 private:
  const config::GravatarConfig& config_;
  ServiceGetter getter_;
};

// The URL of an address's profile. Pure.
std::string GravatarUrl(std::string_view base_url, std::string_view address);

// What a profile says: Nothing where it has no name. Pure.
LookupAnswer ReadGravatarProfile(std::string_view body);

// Asks the Web Key Directory of an address's own domain for the address's OpenPGP key
// (draft-koch-openpgp-webkey-service), whose user ids name its owner: at the advanced URL, then,
// where that gives no key, at the direct one. Serves reverse_email alone. Every URL is validated
// (G9). A domain without a directory is no failure. Its failures: overloaded, shutdown.
class WkdProvider final : public Provider {
 public:
  static constexpr std::string_view kId = "wkd";
  static constexpr int kConfidence = 8;
  static constexpr std::chrono::milliseconds kTimeMax{10'000};  // both URLs together

  // Everything handed in must outlive this object.
  WkdProvider(const base::Clock& clock, html::Fetcher& fetcher, OriginOf origin_of = OverHttps());
  ~WkdProvider() override;  // callbacks of what is under way are dropped

  std::string_view id() const override { return kId; }
  void Start(LookupRequest request, std::function<void(LookupAnswer)> done) override;

 private:
  class Question;
  struct Dependencies;
  const std::shared_ptr<const Dependencies> deps_;
};

// The URLs at which the key of an address may be, in the order to be asked. Empty for a domain that
// no URL can name. Pure.
std::vector<std::string> WkdUrls(const domain::Address& address, const OriginOf& origin_of);

// The person whom the user ids of a key name for the address: those of other addresses do not
// count. Two different names are candidates. `url`: where the key stands. Pure.
domain::PersonFound PersonOfKey(const domain::Address& address, const std::string& url,
                                std::string_view key);

// z-base-32, as directories name local deps. Pure.
std::string ZBase32(std::string_view bytes);

// Reads a name out of an address's local part ("ada.lovelace@"). It is a candidate and never an
// answer, since nobody states it. It asks nobody, and serves reverse_email alone.
class LocalPartProvider final : public Provider {
 public:
  static constexpr std::string_view kId = "local_part";
  static constexpr int kConfidence = 2;

  std::string_view id() const override { return kId; }
  void Start(LookupRequest request, std::function<void(LookupAnswer)> done) override;
};

}  // namespace vedette::worker
