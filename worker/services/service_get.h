#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <variant>

#include "base/byte_budget.h"
#include "base/clock.h"
#include "base/uuid.h"
#include "domain/failure.h"
#include "lease/live.h"
#include "net/http_client.h"

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
  std::function<bool()> may_call{};     // asked when the request has its turn; empty: yes
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
  GetAnswer Judge(net::HttpResponse response) const;

  net::HttpClient& client_;
  base::ByteBudget& answers_;
  const base::Clock& clock_;
  const GetService service_;
  lease::Live live_;
};

}  // namespace vedette::worker
