#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/jobs/waits.h"
#include "api/monitors/previewer.h"
#include "api/monitors/selector_fault.h"
#include "api/monitors/webhook_tester.h"
#include "api/oauth/key_waits.h"
#include "api/open_slots.h"
#include "api/provider_keys.h"
#include "api/search/search_parts.h"
#include "api/workflows/known_definitions.h"
#include "base/byte_budget.h"
#include "base/clock.h"
#include "base/log.h"
#include "config/config_fwd.h"
#include "domain/monitor.h"
#include "metrics/metrics.h"
#include "net/http_server.h"
#include "net/public_address.h"
#include "rest/answer.h"
#include "rest/body.h"
#include "rest/key_fetcher.h"
#include "rest/list_stream.h"
#include "store/accounts/auth.h"
#include "store/audit.h"
#include "store/jobs/job_starts.h"
#include "store/session.h"
#include "store/signals.h"

// What a handler has at hand.
namespace vedette::api {

// The parts of the process that the API uses. They must outlive every request.
struct Parts {
  const config::Config& config;
  store::Pool& pool;
  store::Signals& signals;
  const base::Clock& clock;
  metrics::Metrics& metrics;
  const net::AddressPolicy& policy;
  WebhookTester& webhook_tester;
  Previewer& previewer;
  rest::KeyFetcher& key_fetcher;
  ProviderKeys& provider_keys;
  SelectorFault selector_fault;
  base::Logger log;
  Waits& waits;
  KeyWaits& key_waits;
  SearchParts search;
  OpenSlots& upload_slots;
  OpenSlots& download_slots;
  store::JobStarts& job_starts;
  KnownDefinitions& definitions;
  // Every body, parsed body and long answer takes its bytes from here, through Exchange::held().
  base::ByteBudget& held_bytes;
};

// One authenticated request on a pool's thread.
struct Call {
  const Parts& parts;
  store::Session& session;
  std::shared_ptr<rest::Answer> answer;
  std::vector<std::string> path_params;  // decoded, in the order of the pattern
  std::size_t body_bytes_max = 0;        // of the route
  store::Caller caller;

  const net::ServerRequest& request() const { return answer->request(); }
  store::Scope scope() const { return caller.scope(); }
  // What this request holds of Parts::held_bytes, on account of the caller's organisation; the body
  // is in it. Handlers take more for what they make of it, and for their answers.
  base::ByteBudget::Holding& held() const { return answer->exchange().held(); }
};

// What lasts of a call that parks its answer: everything but its session.
struct ParkedCall {
  explicit ParkedCall(const Call& call);
  Call On(store::Session& session) const;

  const Parts& parts;
  std::shared_ptr<rest::Answer> answer;
  std::vector<std::string> path_params;
  std::size_t body_bytes_max;
  store::Caller caller;
};

// Replies, or parks the answer (rest/answer.h). Throws what the store throws.
using Handler = rest::Handled (*)(Call& call);

// The monitor that the path's first parameter names, or a 404.
rest::Judged<domain::Monitor> FindMonitor(Call& call);
// The row of it that the second one names, or a 404.
rest::Judged<domain::Row> FindRow(Call& call, const domain::Monitor& monitor);

// The body of this request as a JSON object: else 413, 415, 400, or 422 for what is over a limit of
// the parser, or a 503 where there is no room for it (TakeBytes).
rest::Judged<rest::JsonBody> ReadJsonObject(Call& call, const rest::BodyRules& rules);
// The rules of a body without anything that is large.
rest::BodyRules BodyRulesOf(const Call& call);
// Takes `bytes` of the process's budget for what is made of the body, waiting a few seconds on
// this pool's thread; a 503 where there is no room. Not inside a transaction.
std::optional<rest::Reply> TakeBytes(Call& call, std::size_t bytes);
// For routes without a body: nothing, or an empty object. What is wrong otherwise.
std::optional<rest::Reply> CheckEmptyBody(Call& call);

// What the audit gets of a change: who, on whose behalf, what, to what, from where.
store::AuditEntry AuditOf(const Call& call, std::string action, std::string target = {});

// Whether the organisation may use what is asked for: a 403, or nothing.
std::optional<rest::Reply> CheckFeature(const Call& call, bool needed, std::string_view feature,
                                        std::string_view what);

// Answers with a list in pieces, which take the caller's turns.
template <typename Item>
rest::Handled SendList(Call& call, rest::ListParts<Item> parts) {
  return rest::SendPieces(call.parts.pool, call.caller.org_id, call.answer, call.session,
                          rest::ListSource<Item>(std::move(parts)));
}

}  // namespace vedette::api
