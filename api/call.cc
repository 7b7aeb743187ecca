#include "api/call.h"

#include <algorithm>

#include "store/monitors.h"
#include "store/rows.h"

namespace vedette::api {
namespace {

constexpr std::size_t kRequestIdCharsMax = 128;

bool IsSaneRequestId(std::string_view id) {
  if (id.empty() || id.size() > kRequestIdCharsMax) return false;
  return std::all_of(id.begin(), id.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '-' ||
           c == '_' || c == '.' || c == ':';
  });
}

std::string LowerCase(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return lower;
}

// application/json or any +json, in UTF-8. None at all is taken for JSON.
bool IsJsonType(std::string_view header) {
  std::string type = LowerCase(header);
  type.erase(std::remove(type.begin(), type.end(), ' '), type.end());
  const std::size_t semicolon = type.find(';');
  const std::string essence = type.substr(0, semicolon);
  const std::size_t charset = type.find("charset=");
  if (charset != std::string::npos && !type.substr(charset + 8).starts_with("utf-8") &&
      !type.substr(charset + 8).starts_with("\"utf-8\"")) {
    return false;
  }
  if (essence.empty() || essence == "application/json") return true;
  return essence.starts_with("application/") && essence.ends_with("+json");
}

Reply TooLarge(const Call& call) {
  return ErrorReply(413, "body_too_large",
                    "the body is over " + std::to_string(call.parts.config.api.body_bytes_max) +
                        " bytes; upload a file for many rows");
}

Reply WrongType(const Call& call) {
  return ErrorReply(
      415, "unsupported_media_type",
      "Content-Type " + Quoted(call.request().Header("content-type")) + " is not application/json");
}

}  // namespace

Answer::Answer(const Parts& parts, std::shared_ptr<net::Exchange> exchange, std::string route)
    : parts_(parts),
      exchange_(std::move(exchange)),
      route_(std::move(route)),
      began_at_(parts.clock.SinceBoot()) {
  const std::string_view given = exchange_->request().Header("x-request-id");
  request_id_ = IsSaneRequestId(given) ? std::string(given) : base::Uuid::V4().ToString();
  headers_.emplace_back("X-Request-Id", request_id_);
}

// An answer that is never given becomes the server's 500.
Answer::~Answer() {
  Count(500);
}

void Answer::AddHeader(std::string name, std::string value) {
  headers_.emplace_back(std::move(name), std::move(value));
}

void Answer::Send(Reply reply) {
  Count(reply.status);
  net::ServerResponse response;
  response.status = reply.status;
  response.headers = headers_;
  const bool typed = std::any_of(reply.headers.begin(), reply.headers.end(),
                                 [](const auto& h) { return h.first == "Content-Type"; });
  if (!typed) response.headers.emplace_back("Content-Type", "application/json");
  for (auto& header : reply.headers) response.headers.push_back(std::move(header));
  response.body = std::move(reply.body);
  exchange_->Send(std::move(response));
}

net::Exchange& Answer::Begin() {
  Count(200);
  auto headers = headers_;
  headers.emplace_back("Content-Type", "application/json");
  exchange_->Begin(200, std::move(headers));
  return *exchange_;
}

void Answer::Count(int status) {
  if (std::exchange(counted_, true)) return;
  const auto took =
      std::chrono::duration_cast<std::chrono::microseconds>(parts_.clock.SinceBoot() - began_at_);
  parts_.metrics.ObserveHttpRequest("api " + route_, status, took);
}

Judged<domain::Monitor> FindMonitor(Call& call) {
  const auto id = base::Uuid::Parse(call.path_params.at(0));
  if (!id) return NotFound("monitor");
  auto monitor = store::GetMonitor(call.session, call.scope(), *id);
  if (!monitor) return NotFound("monitor");
  return std::move(*monitor);
}

Judged<domain::Row> FindRow(Call& call, const domain::Monitor& monitor) {
  const auto id = base::Uuid::Parse(call.path_params.at(1));
  if (!id) return NotFound("row");
  auto row = store::GetRow(call.session, monitor.id, *id);
  if (!row) return NotFound("row");
  return std::move(*row);
}

Judged<JsonBody> ReadJsonObject(const Call& call) {
  const net::ServerRequest& request = call.request();
  if (request.body_too_large) return TooLarge(call);
  if (!IsJsonType(request.Header("content-type"))) return WrongType(call);
  JsonBody body;
  const int rows_max = call.parts.config.limits.rows_per_request_max;
  if (const auto error = ParseBody(request.body, rows_max, &body)) {
    using Kind = base::JsonError::Kind;
    if (error->kind == Kind::kTooManyMembers || error->kind == Kind::kTooManyValues) {
      const bool members = error->kind == Kind::kTooManyMembers;
      return ValidationReply({{base::Json::array({"body"}), error->message,
                               members ? "too_many_members" : "too_many_values"}});
    }
    return ErrorReply(400, "malformed_json", "the body is not valid JSON: " + error->message);
  }
  if (!body.members.is_object()) {
    return ErrorReply(400, "malformed_json", "the body is not a JSON object");
  }
  return body;
}

std::optional<Reply> CheckEmptyBody(const Call& call) {
  const net::ServerRequest& request = call.request();
  if (!request.body_too_large && request.body.empty()) return std::nullopt;
  Judged<JsonBody> body = ReadJsonObject(call);
  if (auto* reply = std::get_if<Reply>(&body)) return std::move(*reply);
  Problems problems;
  BodyReader(std::get<JsonBody>(body).members, &problems).Finish();
  if (problems.any()) return ValidationReply(problems.items());
  return std::nullopt;
}

Reply FailureReply(const base::Logger& log, const Answer& answer) {
  try {
    throw;
  } catch (const store::CommitUnknown& e) {
    log.Warn("a commit's outcome is unknown",
             {{"request_id", answer.request_id()}, {"error", e.what()}});
    return Unavailable(
        "the database went away while the change was being made: it may have been made or not. "
        "Look before you repeat it; a create repeated with its Idempotency-Key is safe");
  } catch (const store::Unavailable& e) {
    log.Warn("the database is unavailable",
             {{"request_id", answer.request_id()}, {"error", e.what()}});
    return Unavailable("the database cannot be reached; nothing was changed or charged");
  } catch (const store::Contention& e) {
    log.Warn("a request gave way to others",
             {{"request_id", answer.request_id()}, {"error", e.what()}});
    return Unavailable("too many changes at once; nothing was changed or charged");
  } catch (const std::exception& e) {
    log.Error("a request failed", {{"request_id", answer.request_id()},
                                   {"target", answer.request().path},
                                   {"error", e.what()}});
    return ErrorReply(500, "internal_error",
                      "unexpected failure; quote request id " + answer.request_id());
  }
}

std::optional<Reply> CheckFeature(const Call& call, bool needed, std::string_view feature,
                                  std::string_view what) {
  if (!needed || call.caller.Has(feature)) return std::nullopt;
  return ErrorReply(403, "feature_not_enabled",
                    std::string(what) + " needs the feature " + std::string(feature) +
                        ", which is not enabled for your organisation");
}

}  // namespace vedette::api
