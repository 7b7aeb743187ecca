#include "api/operator/admin.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "api/kit/answer.h"
#include "api/kit/sign_in.h"
#include "api/operator/audit_stream.h"
#include "api/operator/handlers.h"
#include "base/crypto.h"
#include "base/text.h"
#include "config/parts.h"
#include "config/server_config.h"
#include "domain/auth/cell.h"
#include "domain/text/limits.h"
#include "store/place.h"

namespace vedette::admin {

void HealthPort::HandleWhole(std::shared_ptr<net::Exchange> exchange) {
  const net::ServerRequest& request = exchange->request();
  rest::Reply reply = rest::NotFound("route");
  if (request.method == "GET" && request.path == "/healthz") reply = HealthReply();
  if (request.method == "GET" && request.path == "/readyz") reply = ReadinessReply(state_);
  if (request.method == "GET" && request.path == "/metrics") reply = MetricsReply(metrics_);
  exchange->Send(rest::ToResponse(std::move(reply), {{"Cache-Control", "no-store"}}));
}

namespace {

// What came with "Authorization: Bearer <token>"; empty without.
std::string_view BearerToken(const net::ServerRequest& request) {
  constexpr std::string_view kScheme = "bearer ";
  std::string_view header = request.Header("authorization");
  if (header.size() <= kScheme.size()) return {};
  if (!base::EqualsIgnoringAsciiCase(header.substr(0, kScheme.size()), kScheme)) return {};
  header.remove_prefix(kScheme.size());
  while (header.starts_with(' ')) header.remove_prefix(1);
  return header;
}

// The headers of every answer: what the port tells is the operator's, and is never to be kept or
// guessed at.
std::vector<rest::Header> PortHeaders() {
  return {{"Cache-Control", "no-store"}, {"X-Content-Type-Options", "nosniff"}};
}

}  // namespace

struct Admin::Impl {
  struct Token {
    Operator who;
    std::string sha256;
  };

  const rest::Port port;
  const Dependencies parts;
  std::vector<Token> tokens;

  std::optional<Operator> CallerOf(const net::ServerRequest& request) const;
  rest::Handled Admit(const Call& call, const rest::Match<Call>& match) const;
  void AdmitSession(const Call& call, rest::Match<Call> match) const;
};

// Compares with every token, whichever fits, so that the time tells nothing; hashes, so that the
// length does not either.
std::optional<Operator> Admin::Impl::CallerOf(const net::ServerRequest& request) const {
  const std::string_view token = BearerToken(request);
  const std::string sha256 = base::Sha256(token);
  std::optional<Operator> caller;
  for (const Token& known : tokens) {
    if (base::ConstantTimeEqual(known.sha256, sha256)) caller = known.who;
  }
  if (token.empty()) return std::nullopt;
  return caller;
}

namespace {

rest::Reply Unauthorized(std::string_view message) {
  rest::Reply reply = rest::ErrorReply(401, "unauthorized", message);
  reply.headers.emplace_back("WWW-Authenticate", "Bearer realm=\"vedette admin\"");
  return reply;
}

rest::Reply InsufficientRole(const Operator& caller, Role needed) {
  return rest::ErrorReply(
      403, "insufficient_role",
      fmt::format("this needs the role {}, and {}{} has the role {} ({})", RoleName(needed),
                  caller.session ? "" : "the token ", caller.name, RoleName(caller.role),
                  caller.session ? "[admin.oidc]" : "[admin.roles]"));
}

// What is told is no secret here: the port's /readyz says it to everybody.
rest::Reply NotYet(const ServiceState& state) {
  std::vector<std::string> reasons;
  state.Ready(&reasons);
  return rest::Unavailable(fmt::format("{}", fmt::join(reasons, "; ")));
}

// Whether every {id} of the path is one.
bool HasIds(const rest::Match<Call>& match) {
  const std::string_view pattern = match.route->pattern;
  const bool ends_with_name = pattern.ends_with("/{user}") || pattern.ends_with("/{kid}");
  const auto ids_end = match.params.end() - (ends_with_name ? 1 : 0);
  return std::all_of(match.params.begin(), ids_end,
                     [](const std::string& value) { return base::Uuid::Parse(value).has_value(); });
}

bool NamesThing(const rest::Route<Call>& route) {
  return route.pattern.find("{id}") != std::string_view::npos;
}

rest::Reply Away(const store::OrganisationPlace& place, base::Timestamp now) {
  if (place.lives_at) {
    return rest::JsonReply(409, {{"error", "organisation_elsewhere"},
                                 {"message", fmt::format("the organisation lives at {}: ask there",
                                                         domain::CellName(*place.lives_at))},
                                 {"cell", *place.lives_at}});
  }
  return rest::ErrorReply(
      409, "organisation_moving",
      fmt::format(
          "the organisation is locked for its move to another cell{}: ask there afterwards, or "
          "take it back by vedette ctl org-move",
          rest::EndOfMove(*place.moving_until, now)));
}

// Answers a request that may be answered. What is changed here of an organisation that lives
// elsewhere would do nothing where it works; what is not found here of it may be found there.
rest::Handled Answer(Call& call, const rest::Route<Call>& route) {
  try {
    if (route.method != "GET" && NamesThing(route)) {
      store::CheckIsHere(call.session(), call.Id(0));
    }
    rest::Handled handled = route.handler(call);
    const auto* reply = std::get_if<rest::Reply>(&handled);
    if (reply == nullptr || reply->status != 404 || !NamesThing(route)) return handled;
    const auto place = store::PlaceOf(call.session(), call.Id(0));
    return place.lives_at ? Away(place, call.parts.clock.Now()) : std::move(handled);
  } catch (const store::OrganisationAway& away) {
    return Away(away.place(), call.parts.clock.Now());
  }
}

}  // namespace

// Lets a caller do what his role may: the answer where it may not, or where there is no such thing,
// else the handler's, later. Any thread.
rest::Handled Admin::Impl::Admit(const Call& call, const rest::Match<Call>& match) const {
  const Role needed = RouteOf(match).role;
  if (call.caller.role < needed) return InsufficientRole(call.caller, needed);
  if (!HasIds(match)) {
    return rest::ErrorReply(404, "not_found", "nothing has an id that is not a UUID");
  }
  rest::GatherBody(call.answer, {}, [this, call, route = match.route] {
    rest::ServeLater<Call>(parts.pool, std::nullopt, call,
                           [route](Call& again) { return Answer(again, *route); });
  });
  return rest::Parked{};
}

// Looks up who has signed in, where no token of the configuration is shown.
void Admin::Impl::AdmitSession(const Call& call, rest::Match<Call> match) const {
  const net::ServerRequest& request = call.request();
  const bool may_be = parts.provider_keys != nullptr && BearerToken(request).empty();
  const std::string token(may_be ? ConsoleTokenOf(request) : std::string_view());
  if (token.empty()) {
    call.answer->Send(Unauthorized("send Authorization: Bearer with one of the admin tokens"));
    return;
  }
  if (!rest::IsOfOwnPage(request, token)) return call.answer->Send(NoCsrfToken());
  rest::ServeLater<Call>(parts.pool, std::nullopt, call,
                         [this, token, match = std::move(match)](Call& again) -> rest::Handled {
                           auto caller = CallerOfSession(parts, again.session(), token);
                           if (!caller) {
                             return Unauthorized("the session has ended: sign in again");
                           }
                           again.caller = std::move(*caller);
                           return Admit(again.On(nullptr), match);
                         });
}

Admin::Admin(const config::Config& config, store::Pool& pool, store::Signals& signals,
             const base::Clock& clock, metrics::Metrics& metrics, ServiceState& state,
             const domain::search::Catalogue& fields, rest::KeyFetcher& key_fetcher,
             const base::Logger& log, TenantApi* tenant_api, rest::ProviderKeys* provider_keys,
             OtherCells* other_cells)
    : audit_stream_(std::make_unique<AuditStream>(pool, log)),
      impl_(new Impl{{"admin", "(none)", PortHeaders(), clock, metrics, log},
                     {config, pool, signals, clock, metrics, state, fields, key_fetcher, tenant_api,
                      provider_keys, other_cells, *audit_stream_, log},
                     {}}) {
  for (const auto& [name, token] : config.admin_tokens) {
    const auto role = config.admin_roles.find(name);
    impl_->tokens.push_back(
        {{name, RoleNamed(role == config.admin_roles.end() ? "" : role->second)},
         base::Sha256(token)});
  }
}

Admin::~Admin() = default;

void Admin::EndStreams() {
  audit_stream_->End();
}

void Admin::Handle(std::shared_ptr<net::Exchange> exchange) {
  const net::ServerRequest& given = exchange->request();
  const auto match = Router().Find(given.method, given.path);
  auto answer = std::make_shared<rest::Answer>(impl_->port, std::move(exchange),
                                               match ? match->route->pattern : std::string_view());
  if (!match) return answer->Send(Router().NoRoute(given.method, given.path));
  Call call{impl_->parts, nullptr, answer, match->params,
            rest::BodyBytesMax(*match->route, impl_->parts.config.admin.body_bytes_max)};
  const auto handler = match->route->handler;
  if (match->route->access == rest::Access::kOpen) {
    return rest::ServeHere(answer, [&] { return handler(call); });
  }
  if (!impl_->parts.state.MayAnswer()) return answer->Send(NotYet(impl_->parts.state));
  if (match->route->access == rest::Access::kSignedLink) {
    rest::GatherBody(answer, {}, [&pool = impl_->parts.pool, call, handler] {
      rest::ServeLater<Call>(pool, std::nullopt, call, handler);
    });
    return;
  }
  if (auto caller = impl_->CallerOf(given)) {
    call.caller = std::move(*caller);
    auto handled = impl_->Admit(call, *match);
    if (auto* reply = std::get_if<rest::Reply>(&handled)) answer->Send(std::move(*reply));
    return;
  }
  impl_->AdmitSession(call, *match);
}

std::size_t Admin::BodyBytesMax(std::string_view method, std::string_view path) const {
  return Router().BodyBytesMax(method, path, impl_->parts.config.admin.body_bytes_max);
}

CallBody::CallBody(const Call& call)
    : BodyReader(call.request(),
                 {.bytes_max = call.parts.config.admin.body_bytes_max,
                  .absent = rest::BodyRules::Absent::kEmptyObject},
                 rest::Nulls::kWrong),
      call_(call) {}

std::optional<base::Uuid> CallBody::Id(std::string_view name, rest::Presence presence) {
  const auto id = BodyReader::Id(name, presence);
  if (id) ids_.push_back(*id);
  return id;
}

void CallBody::Check() {
  BodyReader::Check();
  for (const base::Uuid& id : ids_) store::CheckIsHere(call_.session(), id);
}

std::optional<std::string> CallBody::Reason(rest::Presence presence) {
  return FilledText("reason", presence, domain::kReasonCharsMax);
}

ListQuery ReadListQuery(rest::QueryReader* input) {
  return {input->Integer("limit", domain::kRowPageDefault, 1, domain::kRowPageMax),
          input->Text("cursor")};
}

store::AuditEntry AuditOf(const Call& call, std::string action, std::optional<std::string> reason) {
  store::AuditEntry entry;
  entry.actor = call.caller.name;
  entry.action = std::move(action);
  const auto id = call.params.empty() ? std::nullopt : base::Uuid::Parse(call.params.back());
  if (id) entry.target = id->ToString();
  entry.reason = std::move(reason);
  entry.remote_address = call.request().remote_address;
  return entry;
}

void AuditRows(const Call& call, std::string action, const base::Uuid& org_id) {
  store::AuditEntry entry = AuditOf(call, std::move(action), std::nullopt);
  entry.org_id = org_id;
  store::WriteAudit(call.session(), call.parts.clock, entry);
}

}  // namespace vedette::admin
