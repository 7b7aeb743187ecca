#include "api/api.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "api/call.h"
#include "api/documents.h"
#include "api/known_keys.h"
#include "api/limits.h"
#include "api/routes.h"
#include "base/crypto.h"
#include "domain/names.h"

namespace vedette::api {
namespace {

// What a request without a body may send all the same; it is not read.
constexpr std::size_t kStrayBodyBytesMax = 65536;
// The share of held_bytes_max that an organisation that is alone leaves free.
constexpr double kHeldReserve = 0.1;
constexpr std::size_t kKnownKeysMax = 16384;
// A request that was authenticated longer ago is so again before it is served.
constexpr std::chrono::seconds kAuthenticationAgeMax{2};

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
  // Whose turn requests with keys that are not known here take.
  const base::Uuid strangers = base::Uuid::V4();
  KnownKeys known_keys{kKnownKeysMax};
  UploadSlots upload_slots;
  base::ByteBudget held_bytes;
  Parts parts;

  Impl(const config::Config& config, store::Pool& pool, store::Signals& signals,
       const base::Clock& clock, metrics::Metrics& metrics, const net::AddressPolicy& policy,
       WebhookTester& webhook_tester, SelectorFault selector_fault, base::Logger log)
      : held_bytes(config.api_memory.held_bytes_max, kHeldReserve),
        parts{config,  pool,         signals,        clock,
              metrics, policy,       webhook_tester, std::move(selector_fault),
              log,     upload_slots, held_bytes} {}

  // One request that names a key, on its way through the pool.
  struct Work {
    Match match;
    std::shared_ptr<Answer> answer;
    std::string key_hash;
    bool key_known = false;
    store::Caller caller{};  // once it is authenticated
    std::chrono::nanoseconds authenticated_at{};
  };
  using Step = Handled (Impl::*)(store::Session&, const std::shared_ptr<Work>&);

  void Start(Match match, const std::shared_ptr<Answer>& answer) {
    auto work = std::make_shared<Work>(
        Work{std::move(match), answer, base::Sha256(ApiKeyOf(answer->request()))});
    const auto org_id = known_keys.Find(work->key_hash);
    work->key_known = org_id.has_value();
    Post(org_id.value_or(strangers), work, &Impl::Admit);
  }

  // Runs the step as a job in the turn of `key`.
  void Post(const base::Uuid& key, const std::shared_ptr<Work>& work, Step step) {
    const bool queued = parts.pool.Post(key, [this, work, step](store::Session& session) {
      Handled reply;
      try {
        reply = (this->*step)(session, work);
      } catch (...) {
        reply = FailureReply(parts.log, *work->answer);
      }
      if (reply) work->answer->Send(std::move(*reply));
    });
    if (!queued) {
      work->answer->Send(Unavailable("too many requests are waiting; nothing was charged"));
    }
  }

  // Judges the header. Only then is a body taken that did not come with it.
  Handled Admit(store::Session& session, const std::shared_ptr<Work>& work) {
    Answer& answer = *work->answer;
    const bool counts = parts.config.limits.requests_per_minute > 0;
    auto found = store::Authenticate(session, ApiKeyOf(answer.request()), counts);
    if (!found) {
      known_keys.Forget(work->key_hash);
      return Unauthorized(answer.request());
    }
    if (!work->key_known) known_keys.Learn(work->key_hash, found->caller.org_id);
    if (auto reply = JudgeRate(parts, *found, &answer)) return reply;
    if (auto reply = JudgeOrganisation(found->caller)) return reply;
    work->caller = std::move(found->caller);
    work->authenticated_at = parts.clock.SinceBoot();
    answer.exchange().held() = parts.held_bytes.Open(work->caller.org_id);
    if (answer.request().body_pending && work->match.route->body == Body::kJson) {
      Gather(work);
      return std::nullopt;
    }
    if (work->key_known) return Serve(session, work);
    // From here on it is the organisation's turn.
    Post(work->caller.org_id, work, &Impl::Serve);
    return std::nullopt;
  }

  void Gather(const std::shared_ptr<Work>& work) {
    work->answer->exchange().Gather(
        parts.config.api_memory.held_wait_ms, [this, work](net::Gathered how) {
          switch (how) {
            case net::Gathered::kWhole:
              Post(work->caller.org_id, work, &Impl::Serve);
              return;
            case net::Gathered::kNoRoom:
              work->answer->Send(
                  Unavailable("too many bytes of requests are held; nothing was charged"));
              return;
            case net::Gathered::kBroken:  // the server has said so; this one is counted
              work->answer->Send(ErrorReply(408, "request_timeout", "the body did not come"));
              return;
          }
        });
  }

  Handled Serve(store::Session& session, const std::shared_ptr<Work>& work) {
    // A body may take minutes, and a lock or a revoked key holds within seconds.
    if (parts.clock.SinceBoot() - work->authenticated_at > kAuthenticationAgeMax) {
      auto found = store::Authenticate(session, ApiKeyOf(work->answer->request()), false);
      if (!found) return Unauthorized(work->answer->request());
      if (auto reply = JudgeOrganisation(found->caller)) return reply;
      work->caller = std::move(found->caller);
    }
    Call call{parts, session, work->answer, std::move(work->match.params), work->caller};
    return work->match.route->handler(call);
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
  } else if (!store::IsApiKey(ApiKeyOf(request))) {
    answer->Send(Unauthorized(request));
  } else {
    impl_->Start(std::move(*match), answer);
  }
}

std::size_t Api::BodyBytesMax(std::string_view method, std::string_view path) const {
  const auto match = FindRoute(method, path);
  if (!match || match->route->body == Body::kNone) return kStrayBodyBytesMax;
  if (match->route->body == Body::kUpload) return kUploadBytesMax;
  return impl_->parts.config.api.body_bytes_max;
}

bool Api::TakesBody(std::string_view, std::string_view) const {
  return true;
}

}  // namespace vedette::api
