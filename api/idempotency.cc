#include "api/idempotency.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "base/crypto.h"
#include "base/text.h"
#include "config/config.h"
#include "domain/limits.h"

namespace vedette::api {
namespace {

// What is wrong with an idempotency key: the type and the sentence of a 422.
std::optional<std::pair<std::string_view, std::string>> JudgeIdempotencyKey(std::string_view key) {
  if (!base::IsValidUtf8(key)) return {{"string_unicode", "Idempotency-Key should be UTF-8"}};
  if (key.empty() || base::CountCharacters(key) > domain::kIdempotencyKeyCharsMax) {
    return {{key.empty() ? "string_too_short" : "string_too_long",
             fmt::format("Idempotency-Key should have 1 to {} characters",
                         domain::kIdempotencyKeyCharsMax)}};
  }
  const auto is_control = [](char c) { return (c >= '\0' && c < ' ') || c == '\x7f'; };
  if (!std::any_of(key.begin(), key.end(), is_control)) return std::nullopt;
  return {{"string_pattern_mismatch", "Idempotency-Key should have no control characters"}};
}

rest::Reply KeyProblem(std::string message, std::string_view type) {
  return rest::ValidationReply(
      {{base::Json::array({"header", "Idempotency-Key"}), std::move(message), std::string(type)}});
}

}  // namespace

rest::Judged<std::optional<store::Idempotency>> ReadIdempotency(const Call& call,
                                                                std::string_view route) {
  for (const auto& [name, value] : call.request().headers) {
    if (name != "idempotency-key") continue;
    if (auto problem = JudgeIdempotencyKey(value)) {
      return KeyProblem(std::move(problem->second), problem->first);
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
  return KeyProblem("This Idempotency-Key was used with another body", "idempotency_key_reused");
}

}  // namespace vedette::api
