#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/json_text.h"
#include "base/uuid.h"
#include "domain/monitor/enums.h"
#include "domain/monitor/observation.h"
#include "domain/monitor/probe_options.h"
#include "domain/monitor/request_headers.h"

namespace vedette::worker {

using domain::FieldObservation;
using domain::Observation;
using domain::WatchedField;
using ProbeFailure = domain::Failure;
using ProbeResult = domain::ObservationResult;

// What the rows of a monitor have in common for a probe. Immutable once built; shared by its
// checks.
struct ProbeSpec {
  base::Uuid monitor_id;  // nil: of rows that are looked at for no monitor
  domain::SubjectType subject_type;
  domain::Tier tier;
  std::vector<WatchedField> watched;
  std::optional<std::string> research_plan;
  domain::ProbeOptions options{};
  // What pages are asked with beside our own headers: secrets, for the row's own host alone. Null
  // where there are none.
  std::shared_ptr<const domain::RequestHeaders> request_headers{};
  // There are some, and this process has no key that opens them: pages must not be asked without.
  bool headers_sealed = false;
  // What the steps of rows type that are looked at for no monitor; a monitor's are read where its
  // pages need them (worker/probes/page_logins.h).
  domain::ProbeSecrets secrets{};
};

// What the texts of a spec take, about.
inline std::size_t TextBytes(const ProbeSpec& spec) {
  std::size_t bytes = sizeof(ProbeSpec) + spec.options.wait_for.size() +
                      (spec.research_plan ? spec.research_plan->size() : 0);
  for (const WatchedField& field : spec.watched) {
    bytes += sizeof(WatchedField) + field.name.size() + field.description.size();
  }
  for (const auto* parts : {&spec.options.ignore.patterns, &spec.options.ignore.selectors}) {
    for (const std::string& part : *parts) bytes += sizeof(std::string) + part.size();
  }
  for (const domain::PageStep& step : spec.options.steps) {
    bytes +=
        sizeof(domain::PageStep) + step.target.size() + step.value.size() + step.only_if.size();
  }
  if (spec.request_headers != nullptr) {
    for (const auto& [name, value] : *spec.request_headers) bytes += name.size() + value.size();
  }
  return bytes;
}

// How long a request of a check may wait for its turn, where its host or the process has as many
// under way as it takes. It holds a slot of its own organisation meanwhile, and nothing else.
inline constexpr std::chrono::milliseconds kTurnWaitMax = std::chrono::hours(1);

// One check as a probe sees it.
struct ProbeRequest {
  base::Uuid org_id;    // who shares threads, connections and memory with others
  base::Uuid check_id;  // the event_group_id
  base::Uuid row_id;
  std::shared_ptr<const ProbeSpec> spec;
  base::JsonText subject;  // objects
  base::JsonText context;
  base::JsonText known;
  std::optional<base::Timestamp> since;  // the last completed check; empty before the first
  base::Timestamp until;
  // Bounds the requests of this attempt, from the time they have their turn on.
  std::chrono::milliseconds timeout{};
  // What is left of the check's time, retries included; bounds what waits behind its requests.
  std::chrono::milliseconds deadline_left{};
  // If set: called each time a request of the check has its turn, before anything is sent, and when
  // a page that waited for a thread has been read; `waited`: for that. Such time counts for
  // nothing. False before the first request: the check must not start any more, and the attempt
  // ends. Loop thread.
  std::function<bool(std::chrono::milliseconds waited)> on_turn{};
  // If set: called where the attempt fails of a page that was rendered, before `done`, with its
  // picture and no text. Loop thread.
  std::function<void(std::shared_ptr<const domain::SeenPage> page)> on_failed_page{};
  // If set: the page is rendered where its tier renders at all, and this is called with its picture
  // in WebP and the list of its elements (net::Picture::elements), before `done`. Loop thread.
  std::function<void(std::string picture, std::string elements)> on_shown{};
};

// Observes the current values of a row's watched fields: one attempt. Retries are the worker's.
class Probe {
 public:
  virtual ~Probe() = default;
  // `done` exactly once, on the loop thread, perhaps from inside Start. Loop thread only.
  // May look into what the request's known is, and into its subject and context if it says so
  // below.
  virtual void Start(ProbeRequest request, std::function<void(ProbeResult)> done) = 0;
  // Whether it looks into subject and context. One that does not is given them unread, as text that
  // nobody has parsed.
  virtual bool ReadsSubject() const { return true; }
};

// Looks at nothing and answers at once, for benchmarks: every field is as it is known, but in a
// share of the checks, picked by the check's id, each field has a new value.
class NullProbe final : public Probe {
 public:
  // `change_share`: 0..1.
  explicit NullProbe(double change_share) : change_share_(change_share) {}
  void Start(ProbeRequest request, std::function<void(ProbeResult)> done) override;
  bool ReadsSubject() const override { return false; }

 private:
  const double change_share_;
};

}  // namespace vedette::worker
