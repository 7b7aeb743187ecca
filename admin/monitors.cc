#include <fmt/format.h>

#include <utility>

#include "admin/handlers.h"
#include "admin/input.h"
#include "admin/shapes.h"
#include "domain/names.h"
#include "store/control.h"

namespace vedette::admin {
namespace {

// The operator sees every organisation's.
const store::MonitorScope kEveryMonitor{};

Answer NoMonitor() {
  return NotFound("monitor");
}

// "<reason> (by <token name>)": what the owner reads in disabled_reason.
std::string ReasonShown(const std::string& reason, const Call& call) {
  return fmt::format("{} (by {})", reason, call.actor);
}

Answer ControlAnswer(const store::ControlOutcome& outcome, const Call& call,
                     std::string_view what) {
  using Kind = store::ControlOutcome::Kind;
  const std::string_view status = domain::MonitorStatusName(outcome.status);
  switch (outcome.kind) {
    case Kind::kNotFound:
      return NoMonitor();
    case Kind::kConflict:
      return Conflict(fmt::format("monitor_{}", status),
                      fmt::format("the monitor is {}: it cannot be {}", status, what));
    case Kind::kDone:
      break;
  }
  return JsonAnswer(200, {{"id", call.ids[0].ToString()},
                          {"status", status},
                          {"disabled_reason", TextJson(outcome.disabled_reason)}});
}

}  // namespace

Answer PostPause(const Parts& parts, store::Session& session, const Call& call) {
  BodyReader body(call.request);
  const auto reason = body.Text("reason", Presence::kRequired, kReasonCharsMax);
  if (auto refusal = body.Refusal()) return *refusal;
  return ControlAnswer(
      store::PauseMonitor(session, parts.clock, kEveryMonitor, call.ids[0],
                          ReasonShown(*reason, call), AuditOf(call, "monitor.pause", reason)),
      call, "paused");
}

Answer PostResume(const Parts& parts, store::Session& session, const Call& call) {
  BodyReader body(call.request);
  const auto reason = body.Text("reason", Presence::kOptional, kReasonCharsMax);
  if (auto refusal = body.Refusal()) return *refusal;
  const auto outcome = store::ResumeMonitor(session, parts.clock, kEveryMonitor, call.ids[0],
                                            AuditOf(call, "monitor.resume", reason));
  parts.signals.Raise(store::Signal::kDue);
  return ControlAnswer(outcome, call, "resumed");
}

Answer PostCancel(const Parts& parts, store::Session& session, const Call& call) {
  BodyReader body(call.request);
  const auto reason = body.Text("reason", Presence::kOptional, kReasonCharsMax);
  if (auto refusal = body.Refusal()) return *refusal;
  const std::string shown = ReasonShown(reason.value_or("cancelled by the operator"), call);
  return ControlAnswer(store::CancelMonitor(session, parts.clock, kEveryMonitor, call.ids[0], shown,
                                            AuditOf(call, "monitor.cancel", reason)),
                       call, "cancelled");
}

Answer PostTrigger(const Parts& parts, store::Session& session, const Call& call) {
  BodyReader body(call.request);
  const auto reason = body.Text("reason", Presence::kOptional, kReasonCharsMax);
  if (auto refusal = body.Refusal()) return *refusal;
  const store::TriggerOutcome outcome = store::TriggerMonitor(
      session, parts.clock, kEveryMonitor, call.ids[0], store::CutLimitsOf(parts.config),
      AuditOf(call, "monitor.trigger", reason));
  using Kind = store::TriggerOutcome::Kind;
  if (outcome.kind == Kind::kNotFound) return NoMonitor();
  if (outcome.kind == Kind::kConflict) {
    if (outcome.organisation_stopped) {
      return Conflict("organisation_locked",
                      "the organisation is locked or lacks the feature monitors");
    }
    const std::string_view status = domain::MonitorStatusName(outcome.status);
    return Conflict(fmt::format("monitor_{}", status),
                    fmt::format("the monitor is {}: it cannot be triggered", status));
  }
  parts.signals.Raise(store::Signal::kChunk);
  parts.signals.Raise(store::Signal::kDue);
  return JsonAnswer(202, {{"monitor_id", call.ids[0].ToString()},
                          {"tick_id", outcome.tick_id},
                          {"rows", outcome.rows},
                          {"joined", outcome.joined}});
}

}  // namespace vedette::admin
