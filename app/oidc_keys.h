#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <variant>
#include <vector>

#include "api/kit/sign_in.h"
#include "base/event_loop.h"
#include "base/log.h"
#include "config/config_fwd.h"
#include "metrics/metrics.h"
#include "net/http_client.h"

namespace vedette::app {

// The keys of an identity provider, that of [oidc] or that of [admin.oidc]: found by discovery,
// fetched at the start, before they are no longer fresh, and for a request whose key is not known;
// never sooner than jwks_retry_ms after the last try. Where fetches fail the old keys stay; a set
// without a key that can be used is a fetch that failed.
//
//   no keys ──fetch──▶ keys ──fetch succeeds──▶ the new keys, and no others
//      ▲                 │
//      └── fetch fails   └── fetch fails: the same keys, which age
//
// Built while the loop does not run.
class OidcKeys final : public rest::ProviderKeys {
 public:
  // The people who show its tokens: those of tenants ([oidc]), or operators ([admin.oidc]).
  enum class Of { kTenants, kConsole };

  // Gets a URL of the operator's, or posts a form to it where that is not empty; the callback runs
  // once, on the loop thread, never from inside.
  using Ask = std::function<void(const std::string& url, const std::string& form,
                                 std::function<void(net::HttpResponse)>)>;

  // What is handed in must outlive this object.
  OidcKeys(base::EventLoop& loop, Ask ask, const base::Clock& clock, metrics::Metrics& metrics,
           const config::Config& config, base::Logger log, Of of = Of::kTenants);

  void Start();  // loop thread; nothing happens where there is no issuer

  View Now() const override;
  void Fetch(std::function<void()> then) override;
  void Redeem(std::string form, std::function<void(Redeemed)> done) override;

 private:
  using Outcome = std::variant<std::vector<domain::SetKey>, domain::JwtFault>;

  void Look();
  void Join(std::function<void()> then);
  void Begin();
  void ReadDocument(const net::HttpResponse& response);
  void End(Outcome outcome);
  void ShowAge();

  base::EventLoop& loop_;
  const Ask ask_;
  const base::Clock& clock_;
  metrics::Metrics& metrics_;
  const config::Config& config_;
  const base::Logger log_;
  const Of of_;
  const std::string& issuer_;

  mutable std::mutex mutex_;
  std::shared_ptr<const std::vector<domain::SetKey>> keys_;   // guarded by mutex_
  domain::KeyCache cache_;                                    // guarded by mutex_; since boot
  std::shared_ptr<const domain::SignInEndpoints> endpoints_;  // guarded by mutex_

  // Loop thread.
  std::vector<std::function<void()>> waiting_;  // for the fetch that is under way
  base::Timestamp started_at_;                  // since boot
  base::Timer timer_;
};

}  // namespace vedette::app
