#include "api/api.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "api/call.h"
#include "api/documents.h"
#include "api/limits.h"
#include "api/routes.h"
#include "domain/names.h"

namespace vedette::api {
namespace {

// What a request without a body may send all the same; it is not read.
constexpr std::size_t kStrayBodyBytesMax = 65536;
// The share of held_bytes_max that an organisation that is alone leaves free.
constexpr double kHeldReserve = 0.1;

Reply Document(std::string_view pattern) {
  if (pattern == "/openapi.json") return {200, std::string(OpenApiJson())};
  return {200,
          std::string(DocsHtml()),
          {{"Content-Type", "text/html; charset=utf-8"},
           {"Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'"}}};
}

std::string_view ApiKeyOf(const net::ServerRequest& request) {
  return request.Header("x-api-key");
}

Reply Unauthorized(const net::ServerRequest& request) {
  if (!ApiKeyOf(request).empty()) {
    return ErrorReply(401, "unauthorized", "the API key in x-api-key is not valid");
  }
  if (!request.Header("authorization").empty()) {
    return ErrorReply(401, "unauthorized",
                      "the Authorization header is not used here: send the API key in x-api-key");
  }
  return ErrorReply(401, "unauthorized", "the header x-api-key with your API key is missing");
}

// Adds the three headers; a 429 where the key's minute is used up.
std::optional<Reply> JudgeRate(const Parts& parts, const store::Authentication& found,
                               Answer* answer) {
  const std::int64_t limit = parts.config.limits.requests_per_minute;
  if (limit == 0) return std::nullopt;
  const auto reset =
      std::chrono::duration_cast<std::chrono::seconds>(found.minute_ends_at.time_since_epoch());
  answer->AddHeader("X-RateLimit-Limit", std::to_string(limit));
  answer->AddHeader("X-RateLimit-Remaining",
                    std::to_string(std::max<std::int64_t>(0, limit - found.requests)));
  answer->AddHeader("X-RateLimit-Reset", std::to_string(reset.count()));
  if (found.requests <= limit) return std::nullopt;
  const auto left =
      std::chrono::ceil<std::chrono::seconds>(found.minute_ends_at - parts.clock.Now());
  Reply reply = ErrorReply(429, "rate_limited",
                           fmt::format("more than {} requests in this minute by this key", limit));
  reply.headers.emplace_back("Retry-After",
                             std::to_string(std::clamp<std::int64_t>(left.count(), 1, 60)));
  return reply;
}

std::optional<Reply> JudgeOrganisation(const store::Caller& caller) {
  if (caller.organisation_locked) {
    return ErrorReply(403, "organisation_locked", "your organisation is locked");
  }
  if (!caller.Has(domain::kFeatureMonitors)) {
    return ErrorReply(403, "feature_not_enabled",
                      "the feature monitors is not enabled for your organisation");
  }
  return std::nullopt;
}

}  // namespace

struct Api::Impl {
  std::atomic<int> uploads_open{0};
  base::ByteBudget held_bytes;
  Parts parts;

  Impl(const config::Config& config, store::Pool& pool, store::Signals& signals,
       const base::Clock& clock, metrics::Metrics& metrics, const net::AddressPolicy& policy,
       WebhookTester& webhook_tester, SelectorFault selector_fault, base::Logger log)
      : held_bytes(config.api_memory.held_bytes_max, kHeldReserve),
        parts{config,  pool,         signals,        clock,
              metrics, policy,       webhook_tester, std::move(selector_fault),
              log,     uploads_open, held_bytes} {}

  // On a pool's thread.
  Handled Run(const Route& route, std::vector<std::string> params, store::Session& session,
              const std::shared_ptr<Answer>& answer) {
    const bool counts = parts.config.limits.requests_per_minute > 0;
    const auto found = store::Authenticate(session, ApiKeyOf(answer->request()), counts);
    if (!found) return Unauthorized(answer->request());
    if (auto reply = JudgeRate(parts, *found, answer.get())) return reply;
    if (auto reply = JudgeOrganisation(found->caller)) return reply;
    answer->exchange().held() = parts.held_bytes.Open(found->caller.org_id);
    Call call{parts, session, answer, std::move(params), found->caller};
    return route.handler(call);
  }

  void Post(Match match, const std::shared_ptr<Answer>& answer) {
    const bool queued =
        parts.pool.Post([this, match = std::move(match), answer](store::Session& session) mutable {
          Handled reply;
          try {
            reply = Run(*match.route, std::move(match.params), session, answer);
          } catch (...) {
            reply = FailureReply(parts.log, *answer);
          }
          if (reply) answer->Send(std::move(*reply));
        });
    if (!queued) answer->Send(Unavailable("too many requests are waiting; nothing was charged"));
  }
};

Api::Api(const config::Config& config, store::Pool& pool, store::Signals& signals,
         const base::Clock& clock, metrics::Metrics& metrics, const net::AddressPolicy& policy,
         WebhookTester& webhook_tester, SelectorFault selector_fault, base::Logger log)
    : impl_(new Impl(config, pool, signals, clock, metrics, policy, webhook_tester,
                     std::move(selector_fault), log)) {}

Api::~Api() = default;

void Api::Handle(std::shared_ptr<net::Exchange> exchange) {
  const net::ServerRequest& request = exchange->request();
  auto match = FindRoute(request.method, request.path);
  const std::string route(match ? match->route->pattern : "other");
  const auto answer = std::make_shared<Answer>(impl_->parts, std::move(exchange), route);
  if (!match) {
    const std::string allowed = AllowedMethods(request.path);
    if (allowed.empty()) {
      answer->Send(ErrorReply(404, "not_found", "there is nothing at " + Quoted(request.path)));
      return;
    }
    Reply reply = ErrorReply(405, "method_not_allowed",
                             fmt::format("{} is not one of {}", Quoted(request.method), allowed));
    reply.headers.emplace_back("Allow", allowed);
    answer->Send(std::move(reply));
  } else if (match->route->handler == nullptr) {
    answer->Send(Document(match->route->pattern));
  } else if (ApiKeyOf(request).empty()) {
    answer->Send(Unauthorized(request));
  } else {
    impl_->Post(std::move(*match), answer);
  }
}

std::size_t Api::BodyBytesMax(std::string_view method, std::string_view path) const {
  const auto match = FindRoute(method, path);
  if (!match || match->route->body == Body::kNone) return kStrayBodyBytesMax;
  if (match->route->body == Body::kUpload) return kUploadBytesMax;
  return impl_->parts.config.api.body_bytes_max;
}

bool Api::TakesBody(std::string_view method, std::string_view path) const {
  const auto match = FindRoute(method, path);
  return match && match->route->body == Body::kUpload;
}

}  // namespace vedette::api
