#include "api/tenant/api.h"

#include <utility>

#include "api/kit/answer.h"
#include "api/kit/query_reader.h"
#include "api/kit/reply.h"
#include "api/tenant/authenticate.h"
#include "api/tenant/call.h"
#include "api/tenant/credentials.h"
#include "api/tenant/handlers.h"
#include "api/tenant/oauth/form.h"
#include "api/tenant/oauth/published_keys.h"
#include "api/tenant/workflows/run_start.h"
#include "api/tenant/workflows/workflow_calls.h"
#include "base/crypto.h"
#include "config/limits_config.h"
#include "config/parts.h"
#include "config/server_config.h"
#include "domain/auth/jwt.h"
#include "store/place.h"

namespace vedette::api {
namespace {

// The share of held_bytes_max that an organisation that is alone leaves free.
constexpr double kHeldReserve = 0.1;
constexpr std::size_t kKnownKeysMax = 16384;
constexpr std::string_view kWhereToLook = "/docs describes every path, /openapi.json for programs";
// A request that was authenticated longer ago is so again before it is served.
constexpr std::chrono::seconds kAuthenticationAgeMax{2};

// For metrics.
std::string_view NameOf(Credential::Kind kind) {
  switch (kind) {
    case Credential::Kind::kApiKey:
      return "api_key";
    case Credential::Kind::kToken:
      return "token";
    case Credential::Kind::kJwt:
      return "external";
  }
  return "token";
}
std::string_view OutcomeOf(CredentialFault fault) {
  switch (fault) {
    case CredentialFault::kMissing:
      return "missing";
    case CredentialFault::kTwoCredentials:
    case CredentialFault::kRepeatedHeader:
      return "ambiguous";
    case CredentialFault::kBadKey:
    case CredentialFault::kTokenAsKey:
    case CredentialFault::kKeyAsToken:
    case CredentialFault::kBadToken:
    case CredentialFault::kNoCsrfToken:
      return "invalid";
  }
  return "invalid";
}

// Refuses every parameter, on a route that reads none.
void RefuseParameters(const net::ServerRequest& request) {
  rest::Problems problems;
  rest::QueryReader(request.query, &problems).Finish();
  problems.Check();
}

}  // namespace

struct Api::Impl {
  // The turn that requests with credentials that are not known here take.
  const base::Uuid strangers = base::Uuid::V4();
  const rest::Port port;
  KnownKeys known_keys{kKnownKeysMax};
  KeyWaits key_waits;
  OpenSlots upload_slots{kUploadsOpenMax};
  OpenSlots download_slots{kDownloadsOpenMax};
  store::JobStarts job_starts;
  KnownDefinitions definitions;
  base::ByteBudget held_bytes;
  Dependencies parts;

  Impl(const config::Config& config, store::Pool& pool, store::Signals& signals,
       const base::Clock& clock, metrics::Metrics& metrics, const net::AddressPolicy& policy,
       const Outgoing& outgoing, Waits& waits, SelectorFault selector_fault, base::Logger log)
      // What an answer tells is one caller's, and is neither to be kept nor to be guessed at. What
      // others may keep has headers of its own.
      : port{"api", "other", {{"Cache-Control", "no-store"}, {"X-Content-Type-Options", "nosniff"}},
             clock, metrics, log},
        job_starts(clock, [&config] { return StartLimitsOf(config); }),
        held_bytes(config.api_memory.held_bytes_max, kHeldReserve),
        parts{config,
              pool,
              signals,
              clock,
              metrics,
              policy,
              outgoing.webhook_tester,
              outgoing.previewer,
              outgoing.key_fetcher,
              outgoing.provider_keys,
              std::move(selector_fault),
              log,
              waits,
              key_waits,
              outgoing.search,
              upload_slots,
              download_slots,
              job_starts,
              definitions,
              held_bytes} {}

  // One request that shows a credential, on its way through the pool.
  struct Work {
    rest::Match<Call> match;
    std::shared_ptr<rest::Answer> answer;
    Credential credential;  // of the answer's request
    std::string hash;       // of the credential
    bool known = false;
    bool keys_fetched = false;  // whether it has waited for the identity provider's keys
    store::Caller caller{};     // once it is authenticated
    std::chrono::nanoseconds authenticated_at{};
  };
  using Step = rest::Handled (Impl::*)(store::Session&, const std::shared_ptr<Work>&);

  void Start(rest::Match<Call> match, const std::shared_ptr<rest::Answer>& answer) {
    const auto credential = FindCredential(answer->request());
    if (const auto* fault = std::get_if<CredentialFault>(&credential)) {
      parts.metrics.AddAuth("none", OutcomeOf(*fault));
      answer->Send(Refuse(parts, *answer, *fault));
      return;
    }
    const auto& shown = std::get<Credential>(credential);
    if (auto elsewhere = NamesAnotherCell(parts, answer->request(), false)) {
      parts.metrics.AddAuth(NameOf(shown.kind), "elsewhere");
      answer->Send(std::move(*elsewhere));
      return;
    }
    auto work =
        std::make_shared<Work>(Work{std::move(match), answer, shown, base::Sha256(shown.text)});
    const auto org_id = known_keys.Find(work->hash);
    work->known = org_id.has_value();
    Post(org_id.value_or(strangers), work, &Impl::Admit);
  }

  // A route of OAuth's protocol, or a signed link: who asks stands in the body, or in the link, so
  // that it is a stranger's until the handler knows.
  void StartWithoutCaller(rest::Match<Call> match, const std::shared_ptr<rest::Answer>& answer) {
    if (auto elsewhere = NamesAnotherCell(parts, answer->request(), true)) {
      answer->Send(std::move(*elsewhere));
      return;
    }
    const auto work = std::make_shared<Work>(Work{std::move(match), answer, {}, {}});
    answer->exchange().held() = parts.held_bytes.Open(strangers);
    const auto serve = [this, work] {
      rest::Serve(
          parts.pool, strangers, work->answer,
          [this, work](store::Session& session) { return Handle(session, work); },
          FailureOf(*work));
    };
    if (answer->request().body_pending) {
      rest::GatherBody(answer, parts.config.api_memory.held_wait_ms, serve);
    } else {
      serve();
    }
  }

  // A failure is told in the shape of the route's other errors.
  static rest::FailureHandler FailureOf(const Work& work) {
    if (work.match.route->access != rest::Access::kAssertion) return {};
    return [id = work.answer->request_id()](const store::Failure& failure) {
      return AsOauthError(rest::FailureReply(failure, id));
    };
  }

  // Runs the step as a job in the turn of `key`.
  void Post(const base::Uuid& key, const std::shared_ptr<Work>& work, Step step) {
    rest::Serve(parts.pool, key, work->answer, [this, work, step](store::Session& session) {
      return (this->*step)(session, work);
    });
  }

  // The caller. Nothing where the request waits for the provider's keys: once they have come,
  // `again` runs.
  std::optional<store::Authentication> Find(store::Session& session,
                                            const std::shared_ptr<Work>& work, bool count,
                                            Step again) {
    auto found =
        FindCaller(parts, session, *work->answer, work->credential, count, work->keys_fetched);
    if (auto* caller = std::get_if<store::Authentication>(&found)) return std::move(*caller);
    if (auto* refused = std::get_if<Refused>(&found)) {
      known_keys.Forget(work->hash);
      parts.metrics.AddAuth(NameOf(work->credential.kind), refused->outcome);
      throw rest::Refusal(std::move(refused->reply));
    }
    work->keys_fetched = true;
    parts.provider_keys.Fetch([this, work, again] { Post(strangers, work, again); });
    return std::nullopt;
  }

  // Validates the header. Only then is a body taken that did not come with it.
  rest::Handled Admit(store::Session& session, const std::shared_ptr<Work>& work) {
    rest::Answer& answer = *work->answer;
    const bool counts = parts.config.limits.requests_per_minute > 0;
    auto found = Find(session, work, counts, &Impl::Admit);
    if (!found) return rest::Parked{};
    parts.metrics.AddAuth(NameOf(work->credential.kind), "ok");
    if (!work->known) known_keys.Learn(work->hash, found->caller.org_id);
    CheckRate(parts, found->count, &answer);
    CheckCaller(*found, *work->match.route, parts.clock.Now());
    work->caller = std::move(found->caller);
    work->authenticated_at = parts.clock.SinceBoot();
    answer.exchange().held() = parts.held_bytes.Open(work->caller.org_id);
    if (answer.request().body_pending && work->match.route->body == rest::Body::kJson) {
      rest::GatherBody(work->answer, parts.config.api_memory.held_wait_ms,
                       [this, work] { Post(work->caller.org_id, work, &Impl::Serve); });
      return rest::Parked{};
    }
    if (work->known) return Serve(session, work);
    // It is the organisation's turn from here on.
    Post(work->caller.org_id, work, &Impl::Serve);
    return rest::Parked{};
  }

  rest::Handled Serve(store::Session& session, const std::shared_ptr<Work>& work) {
    // A body may take minutes, and a lock or a revoked credential holds within seconds.
    if (parts.clock.SinceBoot() - work->authenticated_at > kAuthenticationAgeMax) {
      auto found = Find(session, work, false, &Impl::Serve);
      if (!found) return rest::Parked{};
      CheckCaller(*found, *work->match.route, parts.clock.Now());
      work->caller = std::move(found->caller);
    }
    return Handle(session, work);
  }

  // Admits what the operator asks.
  rest::Handled AdmitFor(store::Session& session, const std::shared_ptr<Work>& work,
                         const base::Uuid& org_id, const Operator& by) {
    auto found =
        store::AuthenticateExternal(session, {.principal = OperatorPrincipal(by.name),
                                              .label = std::string(kOperatorActor) + by.name,
                                              .organisation = org_id.ToString()});
    if (!found) return rest::NotFound("organisation");
    CheckCaller(*found, *work->match.route, parts.clock.Now());
    work->caller = std::move(found->caller);
    work->caller.reason = by.reason;
    work->answer->exchange().held() = parts.held_bytes.Open(org_id);
    return Handle(session, work);
  }

  // It waits for nobody: a token whose provider's keys are to be fetched is refused as one that
  // has waited for them.
  void CheckAgain(store::Session& session, const Work& work) {
    auto found = FindCaller(parts, session, *work.answer, work.credential, false, true);
    if (auto* refused = std::get_if<Refused>(&found)) {
      known_keys.Forget(work.hash);
      throw rest::Refusal(std::move(refused->reply));
    }
    if (auto* caller = std::get_if<store::Authentication>(&found)) {
      CheckCaller(*caller, *work.match.route, parts.clock.Now());
    }
  }

  rest::Handled Handle(store::Session& session, const std::shared_ptr<Work>& work) {
    const Route& route = *work->match.route;
    // Links and OAuth's protocol have parameters of others: the cell, and what clients add.
    if (route.has_caller() && route.query == rest::Query::kNone) {
      RefuseParameters(work->answer->request());
    }
    Call call{parts,
              &session,
              work->answer,
              std::move(work->match.params),
              rest::BodyBytesMax(route, parts.config.api.body_bytes_max),
              work->caller,
              [this, work](store::Session& later) { CheckAgain(later, *work); }};
    try {
      return route.handler(call);
    } catch (const store::OrganisationAway& away) {
      if (route.access == rest::Access::kSignedLink && route.method == "GET") {
        return LinkAway(work->answer->request(), away.place(), parts.clock.Now());
      }
      return AwayReply(away.place(), parts.clock.Now());
    }
  }

  // A document, which everybody gets.
  void ServeOpen(const rest::Match<Call>& match, const std::shared_ptr<rest::Answer>& answer) {
    rest::ServeHere(answer, [&] {
      Call call{parts, nullptr, answer, match.params};
      return match.route->handler(call);
    });
  }
};

Api::Api(const config::Config& config, store::Pool& pool, store::Signals& signals,
         const base::Clock& clock, metrics::Metrics& metrics, const net::AddressPolicy& policy,
         const Outgoing& outgoing, Waits& waits, SelectorFault selector_fault, base::Logger log)
    : impl_(new Impl(config, pool, signals, clock, metrics, policy, outgoing, waits,
                     std::move(selector_fault), log)) {}

Api::~Api() = default;

void Api::Handle(std::shared_ptr<net::Exchange> exchange) {
  const net::ServerRequest& request = exchange->request();
  auto match = Router().Find(request.method, request.path);
  const auto answer = std::make_shared<rest::Answer>(
      impl_->port, std::move(exchange), match ? match->route->pattern : std::string_view());
  if (!match) {
    answer->Send(Router().NoRoute(request.method, request.path, kWhereToLook));
  } else if (match->route->access == rest::Access::kOpen) {
    impl_->ServeOpen(*match, answer);
  } else if (match->route->access == rest::Access::kAssertion ||
             match->route->access == rest::Access::kSignedLink) {
    impl_->StartWithoutCaller(std::move(*match), answer);
  } else {
    impl_->Start(std::move(*match), answer);
  }
}

base::Uuid OperatorPrincipal(std::string_view name) {
  return domain::ExternalPrincipal("vedette operator", name);
}

bool IsOperator(std::string_view actor, const std::optional<base::Uuid>& principal_id) {
  return actor.starts_with(kOperatorActor) &&
         principal_id == OperatorPrincipal(actor.substr(kOperatorActor.size()));
}

void Api::HandleFor(std::shared_ptr<net::Exchange> exchange, const base::Uuid& org_id,
                    const Operator& by) {
  const net::ServerRequest& request = exchange->request();
  auto match = Router().Find(request.method, request.path);
  const auto answer = std::make_shared<rest::Answer>(
      impl_->port, std::move(exchange), match ? match->route->pattern : std::string_view());
  if (!match || match->route->access != rest::Access::kCredential) {
    return answer->Send(Router().NoRoute(answer->request().method, answer->request().path));
  }
  const auto work =
      std::make_shared<Impl::Work>(Impl::Work{std::move(*match), answer, Credential{}, {}});
  rest::Serve(impl_->parts.pool, org_id, answer,
              [impl = impl_.get(), work, org_id, by](store::Session& session) {
                return impl->AdmitFor(session, work, org_id, by);
              });
}

std::size_t Api::BodyBytesMax(std::string_view method, std::string_view path) const {
  return Router().BodyBytesMax(method, path, impl_->parts.config.api.body_bytes_max);
}

}  // namespace vedette::api
