#include "api/call.h"

#include <condition_variable>
#include <memory>
#include <mutex>

#include "api/limits.h"
#include "rest/body_reader.h"
#include "store/monitors/monitors.h"
#include "store/monitors/rows.h"

namespace vedette::api {
namespace {

// How long a request waits for room for what is made of its body. Short, as it holds a thread
// meanwhile, and those that hold the bytes may need one.
constexpr std::chrono::seconds kBytesWaitMax{3};

}  // namespace

ParkedCall::ParkedCall(const Call& call)
    : parts(call.parts),
      answer(call.answer),
      path_params(call.path_params),
      body_bytes_max(call.body_bytes_max),
      caller(call.caller) {}

Call ParkedCall::On(store::Session& session) const {
  return {parts, session, answer, path_params, body_bytes_max, caller};
}

rest::Judged<domain::Monitor> FindMonitor(Call& call) {
  const auto id = base::Uuid::Parse(call.path_params.at(0));
  if (!id) return rest::NotFound("monitor");
  auto monitor = store::GetMonitor(call.session, call.scope(), *id);
  if (!monitor) return rest::NotFound("monitor");
  return std::move(*monitor);
}

rest::Judged<domain::Row> FindRow(Call& call, const domain::Monitor& monitor) {
  const auto id = base::Uuid::Parse(call.path_params.at(1));
  if (!id) return rest::NotFound("row");
  auto row = store::GetRow(call.session, monitor.id, *id);
  if (!row) return rest::NotFound("row");
  return std::move(*row);
}

std::optional<rest::Reply> TakeBytes(Call& call, std::size_t bytes) {
  struct Granted {
    std::mutex mutex;
    std::condition_variable done;
    bool taken = false;
  };
  if (bytes == 0 || !call.held()) return std::nullopt;
  const auto granted = std::make_shared<Granted>();
  const bool taken = call.held().Take(bytes, [granted] {
    const std::lock_guard lock(granted->mutex);
    granted->taken = true;
    granted->done.notify_all();
  });
  if (taken) return std::nullopt;
  std::unique_lock lock(granted->mutex);
  if (granted->done.wait_for(lock, kBytesWaitMax, [&] { return granted->taken; })) {
    return std::nullopt;
  }
  lock.unlock();
  call.held() = base::ByteBudget::Holding();  // ends the wait
  return rest::Unavailable("too many large requests at once; nothing was changed or charged");
}

rest::BodyRules BodyRulesOf(const Call& call) {
  return {.bytes_max = call.body_bytes_max,
          .json = {.values_max = kBodyValuesMax, .keep_numbers = true}};
}

rest::Judged<rest::JsonBody> ReadJsonObject(Call& call, const rest::BodyRules& rules) {
  if (auto reply = rest::JudgeBody(call.request(), rules)) return std::move(*reply);
  if (auto reply = TakeBytes(call, rest::ParseCost(call.request().body, rules))) {
    return std::move(*reply);
  }
  return rest::ReadJsonBody(call.request(), rules);
}

std::optional<rest::Reply> CheckEmptyBody(Call& call) {
  if (!call.request().body_too_large && call.request().body.empty()) return std::nullopt;
  rest::Judged<rest::JsonBody> body = ReadJsonObject(call, BodyRulesOf(call));
  if (auto* reply = std::get_if<rest::Reply>(&body)) return std::move(*reply);
  rest::Problems problems;
  rest::BodyReader(std::get<rest::JsonBody>(body).members, &problems).Finish();
  return problems.Refusal();
}

store::AuditEntry AuditOf(const Call& call, std::string action, std::string target) {
  store::AuditEntry entry;
  entry.actor = call.caller.principal.label;
  entry.action = std::move(action);
  entry.target = std::move(target);
  entry.remote_address = call.request().remote_address;
  entry.principal = call.caller.principal;
  return entry;
}

std::optional<rest::Reply> CheckFeature(const Call& call, bool needed, std::string_view feature,
                                        std::string_view what) {
  if (!needed || call.caller.Has(feature)) return std::nullopt;
  return rest::ErrorReply(
      403, "feature_not_enabled",
      std::string(what) + " needs the feature " + std::string(feature) +
          ", which is not enabled for your organisation: ask the operator for it");
}

}  // namespace vedette::api
