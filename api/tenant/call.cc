#include "api/tenant/call.h"

#include <algorithm>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "api/kit/body.h"
#include "base/crypto.h"
#include "base/json.h"
#include "base/text.h"
#include "config/limits_config.h"
#include "config/parts.h"
#include "config/security_config.h"
#include "domain/text/limits.h"
#include "store/monitors/monitors.h"
#include "store/monitors/rows.h"

namespace vedette::api {
namespace {

// Half of all slots stay free beside one greedy organisation.
constexpr double kReserve = 0.5;

}  // namespace

OpenSlots::OpenSlots(std::size_t total) : open_(total, kReserve) {}

OpenSlots::Taken OpenSlots::Take(const base::Uuid& org_id) {
  const std::lock_guard lock(mutex_);
  if (open_.full()) return Taken::kFull;
  if (!open_.MayTake(org_id)) return Taken::kShare;
  open_.Take(org_id);
  return Taken::kYes;
}

void OpenSlots::GiveBack(const base::Uuid& org_id) {
  const std::lock_guard lock(mutex_);
  open_.GiveBack(org_id);
}

namespace {

// How long a request waits for room for what is made of its body. Short, as it holds a thread
// meanwhile, and those that hold the bytes may need one.
constexpr std::chrono::seconds kBytesWaitMax{3};

}  // namespace

std::string_view CellOf(const Call& call) {
  return call.parts.config.cell.id;
}

domain::Monitor FindMonitor(Call& call) {
  auto monitor = store::GetMonitor(call.session(), call.caller.scope(), call.Id(0, "monitor"));
  if (!monitor) throw rest::Refusal(rest::NotFound("monitor"));
  return std::move(*monitor);
}

domain::Row FindRow(Call& call, const domain::Monitor& monitor) {
  auto row = store::GetRow(call.session(), monitor.id, call.Id(1, "row"));
  if (!row) throw rest::Refusal(rest::NotFound("row"));
  return std::move(*row);
}

void TakeBytes(Call& call, std::size_t bytes) {
  struct Granted {
    std::mutex mutex;
    std::condition_variable done;
    bool taken = false;
  };
  if (bytes == 0 || !call.held()) return;
  const auto granted = std::make_shared<Granted>();
  const bool taken = call.held().Take(bytes, [granted] {
    const std::lock_guard lock(granted->mutex);
    granted->taken = true;
    granted->done.notify_all();
  });
  if (taken) return;
  std::unique_lock lock(granted->mutex);
  if (granted->done.wait_for(lock, kBytesWaitMax, [&] { return granted->taken; })) {
    return;
  }
  lock.unlock();
  call.held() = base::ByteBudget::Holding();  // ends the wait
  throw rest::Refusal(
      rest::Unavailable("too many large requests at once; nothing was changed or charged"));
}

rest::BodyRules BodyRulesOf(const Call& call) {
  return {.bytes_max = call.body_bytes_max,
          .json = {.values_max = kBodyValuesMax, .keep_numbers = true}};
}

rest::BodyRules OptionalBodyRulesOf(const Call& call) {
  rest::BodyRules rules = BodyRulesOf(call);
  rules.absent = rest::BodyRules::Absent::kEmptyObject;
  return rules;
}

rest::JsonBody ReadJsonObject(Call& call, const rest::BodyRules& rules) {
  rest::CheckBody(call.request(), rules);
  TakeBytes(call, rest::ParseCost(call.request().body, rules));
  return rest::ReadJsonBody(call.request(), rules);
}

void CheckEmptyBody(Call& call) {
  if (!call.request().body_too_large && call.request().body.empty()) return;
  const auto body = ReadJsonObject(call, BodyRulesOf(call));
  rest::Problems problems;
  rest::BodyReader(body.members, &problems).Finish();
  problems.Check();
}

store::AuditEntry AuditOf(const Call& call, std::string action, std::string target) {
  store::AuditEntry entry;
  entry.actor = call.caller.principal.label;
  entry.action = std::move(action);
  entry.target = std::move(target);
  entry.reason = call.caller.reason;
  entry.remote_address = call.request().remote_address;
  entry.principal = call.caller.principal;
  return entry;
}

void CheckFeature(const Call& call, bool needed, std::string_view feature, std::string_view what) {
  CheckFeature(call.caller, needed, feature, what);
}

namespace {

// What is wrong with an idempotency key: the type and the sentence of a 422.
std::optional<std::pair<std::string_view, std::string>> ValidateIdempotencyKey(
    std::string_view key) {
  if (!base::IsValidUtf8(key)) return {{"string_unicode", "Idempotency-Key should be UTF-8"}};
  if (key.empty() || base::CountCharacters(key) > domain::kIdempotencyKeyCharsMax) {
    return {{key.empty() ? "string_too_short" : "string_too_long",
             fmt::format("Idempotency-Key should have 1 to {} characters",
                         domain::kIdempotencyKeyCharsMax)}};
  }
  if (!std::any_of(key.begin(), key.end(), base::IsAsciiControl)) return std::nullopt;
  return {{"string_pattern_mismatch", "Idempotency-Key should have no control characters"}};
}

rest::Reply KeyProblem(std::string_view message, std::string_view type) {
  return rest::ValidationReply(base::Json::array({"header", "Idempotency-Key"}), type, message);
}

}  // namespace

std::optional<store::Idempotency> ReadIdempotency(const Call& call, std::string_view route) {
  for (const auto& [name, value] : call.request().headers) {
    if (name != "idempotency-key") continue;
    if (auto problem = ValidateIdempotencyKey(value)) {
      throw rest::Refusal(KeyProblem(problem->second, problem->first));
    }
    // The same body from another team's key is another request (G8).
    const std::string team = call.caller.team_id ? call.caller.team_id->ToString() : "";
    return std::optional(
        store::Idempotency{value, base::Sha256(std::string(route) + team, call.request().body),
                           call.parts.config.retention.idempotency_keys});
  }
  return std::optional<store::Idempotency>();
}

rest::Reply KeyInUse() {
  return rest::ErrorReply(409, "idempotency_key_in_use",
                          "a request with this Idempotency-Key is still being processed; repeat it "
                          "in a few seconds");
}

rest::Reply KeyReused() {
  return KeyProblem(
      "This Idempotency-Key was used with another request (route, team or body): send a new key",
      "idempotency_key_reused");
}

void CheckFeature(const store::Caller& caller, bool needed, std::string_view feature,
                  std::string_view what) {
  if (!needed || caller.Has(feature)) return;
  throw rest::Refusal(403, "feature_not_enabled",
                      std::string(what) + " needs the feature " + std::string(feature) +
                          ", which is not enabled for your organisation: ask the operator for it");
}

void CheckTier(const store::Caller& caller, domain::Tier tier) {
  CheckFeature(caller, tier == domain::Tier::kMicro, domain::kFeatureTestingMonitors,
               "the tier micro");
  CheckFeature(caller, tier == domain::Tier::kHigh, domain::kFeatureHighTier, "the tier high");
}

}  // namespace vedette::api
