#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/kit/list_stream.h"
#include "api/kit/published_keys.h"
#include "api/kit/reply.h"
#include "api/kit/router.h"
#include "api/tenant/jobs/waits.h"
#include "api/tenant/outgoing.h"
#include "base/byte_budget.h"
#include "base/clock.h"
#include "base/fair_share.h"
#include "base/log.h"
#include "base/uuid.h"
#include "config/config_fwd.h"
#include "domain/monitor/enums.h"
#include "domain/monitor/monitor.h"
#include "metrics/metrics.h"
#include "net/http_server.h"
#include "net/public_address.h"
#include "store/accounts/auth.h"
#include "store/audit.h"
#include "store/endpoint.h"
#include "store/idempotency.h"
#include "store/jobs/job_starts.h"
#include "store/session.h"
#include "store/signals.h"

namespace vedette::api {

// Limits of the public API that are promised to clients, so that an operator does not choose them.

// The interface lists the monitors of a run without pages; each takes about 1 KiB.
inline constexpr int kRunMonitorsMax = 10'000;

// Values in one body, the elements of `rows` aside; the fields of a monitor need a few thousand. A
// value takes up to about 100 bytes of memory, however short its text is.
inline constexpr std::size_t kBodyValuesMax = 65'536;
// Values in one row of a body: one for each column, of which there may be as many as members.
inline constexpr std::size_t kRowValuesMax = 2'048;

// The body of a route that takes leads, of which there are at most kLeadsMax.
inline constexpr std::size_t kLeadsBodyBytesMax = std::size_t{1} << 20;
inline constexpr std::size_t kLeadsMax = 100;
inline constexpr std::size_t kProvidersMax = 16;  // that a request names
inline constexpr int kStatusWaitSecondsMax = 60;  // wait_s of GET /job-status

// The body of a count of a field's values: two filters, of which the largest have a few 100 KiB.
inline constexpr std::size_t kFilterBodyBytesMax = std::size_t{1} << 20;

inline constexpr std::size_t kFormBytesMax = 65536;  // of OAuth's protocol routes

inline constexpr std::size_t kUploadBytesMax = std::size_t{2} << 30;
// Uploads under way in one process, and what each of them holds of its memory, about.
inline constexpr std::size_t kUploadsOpenMax = 32;
inline constexpr std::size_t kUploadHeldBytes = std::size_t{2} << 20;

// Files of runs that are being read in one process. Each holds about a megabyte of its memory.
inline constexpr std::size_t kDownloadsOpenMax = 64;

// What of one kind is under way in one process, uploads or downloads, `total` at most. An
// organisation that is alone may have half of them; n greedy ones have equal shares, and some stay
// free for the next (G10). Any thread.
class OpenSlots {
 public:
  explicit OpenSlots(std::size_t total);

  enum class Taken {
    kYes,    // to be given back
    kShare,  // the organisation has its share
    kFull,   // nothing is free
  };
  Taken Take(const base::Uuid& org_id);
  void GiveBack(const base::Uuid& org_id);

 private:
  std::mutex mutex_;
  base::FairShares<base::Uuid> open_;  // by organisation; guarded by mutex_
};

// The receiver that a validated address names.
inline store::Webhook ToWebhook(const net::TenantUrl& url) {
  return {url.text, {url.scheme, url.host, url.port, url.path}};
}

}  // namespace vedette::api

namespace vedette::rest {
struct BodyRules;
struct JsonBody;
}  // namespace vedette::rest

// What a handler of the API has at hand. What is called Find, Read, Check or Take refuses what it
// cannot give (rest::Refusal).
namespace vedette::api {

class KeyWaits;          // oauth/published_keys.h
class KnownDefinitions;  // workflows/workflow_calls.h

// The parts of the process that the API uses. They must outlive every request.
struct Dependencies {
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
  SearchDependencies search;
  OpenSlots& upload_slots;
  OpenSlots& download_slots;
  store::JobStarts& job_starts;
  KnownDefinitions& definitions;
  // Every body, parsed body and long answer takes its bytes from here, through Exchange::held().
  base::ByteBudget& held_bytes;
};

// One request of a tenant. A route without a credential has no caller.
using Call = rest::Call<Dependencies, store::Caller>;
using Route = rest::Route<Call>;

// The cell that this process is of: what the answers give out names it.
std::string_view CellOf(const Call& call);

// The monitor that the path's first parameter names; a 404.
domain::Monitor FindMonitor(Call& call);
// The row of it that the second one names; a 404.
domain::Row FindRow(Call& call, const domain::Monitor& monitor);

// The body of this request as a JSON object; 413, 415, 400, or 422 for what is over a limit of the
// parser, or a 503 where there is no room for it (TakeBytes).
rest::JsonBody ReadJsonObject(Call& call, const rest::BodyRules& rules);
// The rules of a body without anything that is large.
rest::BodyRules BodyRulesOf(const Call& call);
// The same where no body at all stands for one without members.
rest::BodyRules OptionalBodyRulesOf(const Call& call);
// Takes `bytes` of the process's budget for what is made of the body, waiting a few seconds on
// this pool's thread; a 503 where there is no room. Not inside a transaction.
void TakeBytes(Call& call, std::size_t bytes);
// For routes without a body: nothing, or an empty object.
void CheckEmptyBody(Call& call);

// What the audit gets of a change: who, on whose behalf, what, to what, from where.
store::AuditEntry AuditOf(const Call& call, std::string action, std::string target = {});

// A 403 where the caller's organisation may not use what is asked for, by a request as by a
// schedule.
void CheckFeature(const store::Caller& caller, bool needed, std::string_view feature,
                  std::string_view what);
void CheckFeature(const Call& call, bool needed, std::string_view feature, std::string_view what);
void CheckTier(const store::Caller& caller, domain::Tier tier);

// Answers with a list in pieces, which take the caller's turns.
template <typename Item>
rest::Handled SendList(Call& call, rest::ListPieces<Item> parts) {
  return rest::SendPieces(call.parts.pool, call.caller.org_id, call.answer, call.session(),
                          rest::ListSource<Item>(std::move(parts)));
}

// The key of this request, or nothing where it has none; a 422 for one that cannot be kept. What
// must be equal in a repetition is the body, the caller's team, and `route`, which is empty for
// POST /monitors, whose keys are older than those of other routes. Call it while the body is held.
std::optional<store::Idempotency> ReadIdempotency(const Call& call, std::string_view route);

rest::Reply KeyInUse();   // 409: another request with this key has not finished
rest::Reply KeyReused();  // 422: the key stands for another request

}  // namespace vedette::api
