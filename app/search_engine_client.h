#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "api/tenant/outgoing.h"
#include "app/outside_calls.h"
#include "base/byte_budget.h"
#include "base/event_loop.h"
#include "base/log.h"
#include "base/uuid.h"
#include "config/config_fwd.h"
#include "domain/search/fields.h"
#include "metrics/metrics.h"
#include "net/http_client.h"

namespace vedette::app {

// Counts in the indices of an OpenSearch, or of an Elasticsearch 7 or later: one _search a count,
// on connections of its own, never repeated and never redirected.
//
//   question --> body (domain/search/opensearch.h) --POST--> 200 --> counts
//                                                      |      +----> timed_out, or unusable
//                                                      +--> another status, or no answer: failed
//
// [search] in_flight_max are under way at once (outside_calls.h). Built while the loop does not
// run; Count on any thread.
class SearchEngineClient final : public api::SearchEngine {
 public:
  // `answers`: where what the engine answers is counted while it is read. What is handed in must
  // outlive this object.
  SearchEngineClient(base::EventLoop& loop, base::ByteBudget& answers, metrics::Metrics& metrics,
                     const config::Config& config, base::Logger log);

  void Count(const store::ValuesQuestion& question, std::function<void(Outcome)> done) override;

 private:
  using Done = std::function<void(Outcome)>;
  // What is needed of a question once its body is written.
  struct Asked {
    base::Uuid org_id;
    domain::search::Mode mode;
    const domain::search::Field* field;
    int values_max;
  };
  void Start(const Asked& asked, std::string body, Done done);
  Outcome OutcomeOf(const Asked& asked, const net::HttpResponse& response) const;

  base::ByteBudget& answers_;
  metrics::Metrics& metrics_;
  const config::SearchConfig& config_;
  const base::Logger log_;
  const std::string urls_[domain::search::kModeCount];  // by mode
  const std::vector<std::pair<std::string, std::string>> headers_;
  OutsideCalls calls_;
};

// The catalogue that [search] names, or the one that is compiled in. Throws
// config::ConfigError where the file cannot be read, or is none.
domain::search::Catalogue LoadSearchFields(const config::SearchConfig& config);

}  // namespace vedette::app
