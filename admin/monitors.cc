#include <fmt/format.h>

#include <utility>

#include "admin/handlers.h"
#include "admin/shapes.h"
#include "domain/names.h"
#include "store/monitors/control.h"

namespace vedette::admin {
namespace {

// The operator sees every organisation's.
const store::Scope kEveryMonitor{};

// The one of VEDETTE_ADMIN_TOKEN, whose name is nobody's.
constexpr std::string_view kUnnamedToken = "default";

rest::Reply NoMonitor() {
  return rest::NotFound("monitor");
}

// "<reason> (by <who>)": what the owner reads in disabled_reason.
std::string ReasonShown(const std::string& reason, const Call& call) {
  const bool named = call.actor != kUnnamedToken;
  return fmt::format("{} (by {})", reason, named ? call.actor : "the operator");
}

rest::Reply ControlAnswer(const store::ControlOutcome& outcome, const Call& call,
                          std::string_view what) {
  using Kind = store::ControlOutcome::Kind;
  const std::string_view status = domain::MonitorStatusName(outcome.status);
  switch (outcome.kind) {
    case Kind::kNotFound:
      return NoMonitor();
    case Kind::kConflict:
      return rest::ErrorReply(409, fmt::format("monitor_{}", status),
                              fmt::format("the monitor is {}: it cannot be {}", status, what));
    case Kind::kDone:
      break;
  }
  return rest::JsonReply(200, {{"id", call.ids[0].ToString()},
                               {"status", status},
                               {"disabled_reason", TextJson(outcome.disabled_reason)}});
}

}  // namespace

rest::Reply PostPause(const Parts& parts, store::Session& session, const Call& call) {
  CallBody body(parts, call);
  const auto reason = body.Reason(rest::Presence::kRequired);
  if (auto refusal = body.Refusal()) return std::move(*refusal);
  return ControlAnswer(
      store::PauseMonitor(session, parts.clock, kEveryMonitor, call.ids[0],
                          ReasonShown(*reason, call), AuditOf(call, "monitor.pause", reason)),
      call, "paused");
}

rest::Reply PostResume(const Parts& parts, store::Session& session, const Call& call) {
  CallBody body(parts, call);
  const auto reason = body.Reason();
  if (auto refusal = body.Refusal()) return std::move(*refusal);
  const auto outcome = store::ResumeMonitor(session, parts.clock, kEveryMonitor, call.ids[0],
                                            AuditOf(call, "monitor.resume", reason));
  parts.signals.Raise(store::Signal::kDue);
  return ControlAnswer(outcome, call, "resumed");
}

rest::Reply PostCancel(const Parts& parts, store::Session& session, const Call& call) {
  CallBody body(parts, call);
  const auto reason = body.Reason();
  if (auto refusal = body.Refusal()) return std::move(*refusal);
  const std::string shown = ReasonShown(reason.value_or("cancelled by the operator"), call);
  return ControlAnswer(store::CancelMonitor(session, parts.clock, kEveryMonitor, call.ids[0], shown,
                                            AuditOf(call, "monitor.cancel", reason)),
                       call, "cancelled");
}

rest::Reply PostTrigger(const Parts& parts, store::Session& session, const Call& call) {
  CallBody body(parts, call);
  const auto reason = body.Reason();
  if (auto refusal = body.Refusal()) return std::move(*refusal);
  const store::TriggerOutcome outcome = store::TriggerMonitor(
      session, parts.clock, kEveryMonitor, call.ids[0], store::CutLimitsOf(parts.config),
      AuditOf(call, "monitor.trigger", reason));
  using Kind = store::TriggerOutcome::Kind;
  if (outcome.kind == Kind::kNotFound) return NoMonitor();
  if (outcome.kind == Kind::kConflict) {
    if (outcome.organisation_stopped) {
      return rest::ErrorReply(409, "organisation_locked",
                              "the organisation is locked or lacks the feature monitors");
    }
    const std::string_view status = domain::MonitorStatusName(outcome.status);
    return rest::ErrorReply(409, fmt::format("monitor_{}", status),
                            fmt::format("the monitor is {}: it cannot be triggered", status));
  }
  if (outcome.raise) parts.signals.Raise(*outcome.raise);
  store::ConfirmTrigger(session);
  return rest::JsonReply(202, {{"monitor_id", call.ids[0].ToString()},
                               {"tick_id", outcome.tick_id},
                               {"rows", outcome.rows},
                               {"joined", outcome.joined}});
}

}  // namespace vedette::admin
