#pragma once

#include <memory>
#include <string>

#include "base/clock.h"
#include "base/event_loop.h"
#include "config/config_fwd.h"
#include "net/http_client.h"
#include "worker/providers/provider.h"
#include "worker/services/request_room.h"

namespace vedette::worker {

// The operator's own service, [providers.http.<id>] (docs/lookups.md): POST of the lookup, 200 with
// candidates, or 202 with a Location of the same origin, polled until 200 within the timeout. At
// most in_flight_max lookups are asked at once in this process; those beyond wait, organisations in
// turns, and fail as "overloaded" when their time ends. Its failures: those of ServiceAnswer.
class HttpProvider final : public Provider {
 public:
  // Everything handed in must outlive this object, but for `id` and `config`.
  HttpProvider(base::EventLoop& loop, net::HttpClient& client, const ServiceBudgets& budgets,
               const base::Clock& clock, std::string id, const config::HttpProviderConfig& config);
  ~HttpProvider() override;  // callbacks of what is under way are dropped

  std::string_view id() const override;
  void Start(LookupRequest request, std::function<void(LookupAnswer)> done) override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace vedette::worker
