#include "worker/services/service_get.h"

#include <utility>

#include "pages/http_failure.h"

namespace vedette::worker {

ServiceGetter::ServiceGetter(net::HttpClient& client, base::ByteBudget& answers,
                             const base::Clock& clock, GetService service)
    : client_(client), answers_(answers), clock_(clock), service_(std::move(service)) {}

void ServiceGetter::Get(GetQuestion question, std::function<void(GetAnswer)> done) {
  net::HttpRequest get;
  get.url = std::move(question.url);
  get.headers = {{"Accept", "application/json"}, {"User-Agent", service_.user_agent}};
  if (!service_.api_key.empty()) {
    get.headers.emplace_back("Authorization", "Bearer " + service_.api_key);
  }
  get.trust = net::Trust::kOperator;
  get.org = question.org_id;
  get.timeout = question.timeout;
  if (question.may_call) {
    get.on_turn = [may_call = std::move(question.may_call)](std::chrono::milliseconds) {
      return may_call();
    };
  }
  get.budget = &answers_;
  get.body_bytes_max = service_.body_bytes_max;
  client_.Send(std::move(get),
               live_.Guard([this, done = std::move(done)](net::HttpResponse response) {
                 done(Judge(std::move(response)));
               }));
}

GetAnswer ServiceGetter::Judge(net::HttpResponse response) const {
  if (response.error_class != net::HttpErrorClass::kNone) {
    return pages::TransportFailure(response, service_.name);
  }
  if (response.status == 200 || response.status == 404) return response;
  return pages::StatusFailure(response, service_.name, clock_.Now());
}

}  // namespace vedette::worker
