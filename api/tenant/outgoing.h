#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "api/kit/sign_in.h"
#include "base/clock.h"
#include "base/uuid.h"
#include "domain/auth/jwk_set.h"
#include "domain/monitor/enums.h"
#include "domain/monitor/observation.h"
#include "domain/monitor/probe_options.h"
#include "domain/monitor/request_headers.h"
#include "domain/monitor/row_values.h"
#include "domain/search/fields.h"
#include "domain/search/opensearch.h"
#include "store/search/field_values.h"
#include "store/session.h"

namespace vedette::api {

// Those of the provider of [oidc].
using rest::ProviderKeys;

// How one test notification went.
struct WebhookTestOutcome {
  // Not sent, because too many are under way: of this organisation, or of all together.
  enum class Refusal { kNone, kOrganisation, kAll };
  Refusal refusal = Refusal::kNone;
  bool delivered = false;
  std::optional<int> status_code;    // empty where no answer came
  std::optional<std::string> error;  // one sentence; empty when delivered
  std::int64_t duration_ms = 0;
};

struct WebhookTestTarget {
  base::Uuid org_id;  // whose secrets sign
  base::Uuid monitor_id;
  std::string url;
  std::optional<std::string> metadata_json;
  std::optional<base::Uuid> channel_id{};  // that is told instead, at its own address
};

// Sends one signed notification of type monitor.webhook.test, at once and only once. Built by app
// from delivery/, which the API must not include.
class WebhookTester {
 public:
  virtual ~WebhookTester() = default;

  // Returns at once; `done` runs exactly once, on any thread, within the attempt's timeout and a
  // little.
  virtual void Test(WebhookTestTarget target, std::function<void(WebhookTestOutcome)> done) = 0;
};

// What a monitor would look at, if it were made.
struct PreviewRequest {
  base::Uuid org_id;  // who shares connections, threads and memory with others
  domain::Tier tier = domain::Tier::kLow;
  domain::SubjectType subject_type = domain::SubjectType::kCompany;
  std::optional<std::string> research_plan;
  std::vector<domain::WatchedField> watched;
  std::vector<domain::RowValues> rows;
  domain::RequestHeaders request_headers{};
  domain::ProbeOptions options{};
  domain::ProbeSecrets secrets{};  // that its steps type
  bool shows = false;              // the picture of its first row's page
};

// How one preview went: what was observed of each row, in order.
struct PreviewOutcome {
  // Nothing was looked at, because too many rows are: of this organisation, or of all together.
  enum class Refusal { kNone, kOrganisation, kAll };
  Refusal refusal = Refusal::kNone;
  std::vector<domain::ObservationResult> rows;
  // The first row's page, where it was asked for and was rendered: in WebP, and what can be seen
  // there, a JSON array of [x, y, width, height, CSS selector, text].
  std::string picture{};
  std::string elements{};
};

// Looks at rows once, as a check of them would, and keeps nothing of it. Built by app from
// worker/probes, which the API must not include.
class Previewer {
 public:
  using Done = std::function<void(PreviewOutcome)>;
  virtual ~Previewer() = default;

  // Whether previews look at rows of this tier: those whose probe reads pages itself. A research
  // service or a model costs the operator money, so that nobody asks it for nothing. Any thread.
  virtual bool Serves(domain::Tier tier) const = 0;

  // Returns at once; `done` runs exactly once, on any thread, within [api] preview_timeout_ms and a
  // little. A row that was not seen by then has the failure `timeout`. Serves(tier) holds.
  virtual void Preview(PreviewRequest request, Done done) = 0;
};

// Why the selector in a watched field's description cannot be read, as one sentence; nothing for
// one that can, and for prose. Any thread. Built by app from worker/probes, which the API must not
// include.
using SelectorFault = std::function<std::optional<std::string>(const std::string& field,
                                                               const std::string& description)>;

// Counts the values of a field in documents that are not in the database. Built by app.
class SearchEngine {
 public:
  struct Outcome {
    enum class Kind {
      kCounted,
      kTimedOut,
      kFailed,    // it cannot be reached, or does not answer as it should
      kBusy,      // not begun: too many counts are under way, of this organisation or of all
      kTooLarge,  // not begun: the filter, written for the engine, is over a limit
    };
    Kind kind = Kind::kFailed;
    domain::search::EngineCount count{};  // where it is kCounted
  };

  virtual ~SearchEngine() = default;

  // `done` runs exactly once, on any thread, perhaps from inside, within [search] timeout_ms and a
  // little. The question's organisation sees the documents of nobody and its own (G8).
  virtual void Count(const store::ValuesQuestion& question, std::function<void(Outcome)> done) = 0;
};

// What counting the values of fields needs; app fills it in. All of it must outlive every request.
struct SearchDependencies {
  const domain::search::Catalogue& fields;
  // [search] backend says which of the two there is; where it is empty there is neither, and
  // nothing is counted. The pool has connections of its own, so that counts take none from other
  // requests.
  store::Pool* pool = nullptr;
  SearchEngine* engine = nullptr;
};

}  // namespace vedette::api
