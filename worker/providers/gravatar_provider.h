#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "config/lookup_config.h"
#include "net/http_client.h"
#include "worker/providers/provider.h"
#include "worker/services/request_room.h"
#include "worker/services/service_get.h"

namespace vedette::worker {

// Asks Gravatar (v3 of its API) for the public profile of an address, by the SHA-256 of it in lower
// case. A third party so learns of the address: there is this provider only where the operator has
// set [providers.gravatar] url. Serves reverse_email alone. Its failures: those of GetAnswer, and
// invalid_answer; a 429 carries its Retry-After.
class GravatarProvider final : public Provider {
 public:
  static constexpr std::string_view kId = "gravatar";
  static constexpr int kConfidence = 5;

  // Everything handed in must outlive this object, but for `config`.
  GravatarProvider(net::HttpClient& client, const ServiceBudgets& budgets, const base::Clock& clock,
                   const config::GravatarConfig& config, const std::string& user_agent);

  std::string_view id() const override { return kId; }
  void Start(LookupRequest request, std::function<void(LookupAnswer)> done) override;

 private:
  const config::GravatarConfig config_;
  ServiceGetter getter_;
};

// The URL of an address's profile. Pure.
std::string GravatarUrl(std::string_view base_url, std::string_view address);

// What a profile says: Nothing where it has no name. Pure.
LookupAnswer ReadGravatarProfile(std::string_view body);

}  // namespace vedette::worker
