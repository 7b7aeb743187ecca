#include "admin/admin.h"

#include <fmt/format.h>

#include <optional>
#include <utility>
#include <vector>

#include "admin/routes.h"
#include "base/crypto.h"
#include "base/text.h"
#include "config/config.h"
#include "domain/limits.h"
#include "rest/body.h"
#include "rest/failure_reply.h"
#include "rest/serve.h"
#include "store/accounts/accounts.h"

namespace vedette::admin {
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

// Of every answer: what the port tells is the operator's, and is never to be kept or guessed at.
std::vector<rest::Header> PortHeaders() {
  return {{"Cache-Control", "no-store"}, {"X-Content-Type-Options", "nosniff"}};
}

}  // namespace

struct Admin::Impl {
  struct Token {
    std::string name;
    std::string sha256;
  };

  const rest::Port port;
  Parts parts;
  store::Pool& pool;
  rest::KeyFetcher& key_fetcher;
  TenantApi* const tenant_api;
  std::vector<Token> tokens;

  // One request on its way: everything that the answer needs when it is there.
  struct Request {
    std::shared_ptr<rest::Answer> answer;
    const Route* route = nullptr;
    Call call;
    store::ReplayProgress progress{};  // of a portioned one
  };

  std::optional<std::string> ActorOf(const net::ServerRequest& request) const;
  void Run(const std::shared_ptr<Request>& request);
  rest::Handled RunStored(store::Session& session, const std::shared_ptr<Request>& request);
  rest::Handled AskTenantApi(store::Session& session, const Request& request) const;
};

// Compares with every token, whichever fits, so that the time tells nothing; hashes, so that the
// length does not either.
std::optional<std::string> Admin::Impl::ActorOf(const net::ServerRequest& request) const {
  const std::string_view token = BearerToken(request);
  const std::string sha256 = base::Sha256(token);
  std::optional<std::string> actor;
  for (const Token& known : tokens) {
    if (base::ConstantTimeEqual(known.sha256, sha256)) actor = known.name;
  }
  if (token.empty()) return std::nullopt;
  return actor;
}

namespace {

rest::Reply Unauthorized() {
  rest::Reply reply = rest::ErrorReply(401, "unauthorized",
                                       "send Authorization: Bearer with one of the admin tokens");
  reply.headers.emplace_back("WWW-Authenticate", "Bearer realm=\"vedette admin\"");
  return reply;
}

// Takes the path's parameters over into the call. False for an id that is none.
bool ReadPath(const rest::Match<Route>& match, Call* call) {
  for (const std::string& value : match.params) {
    const std::string_view pattern = match.route->pattern;
    const bool is_name = &value == &match.params.back() &&
                         (pattern.ends_with("/{user}") || pattern.ends_with("/{kid}"));
    if (is_name || match.route->access == Route::Access::kOpen) {
      call->name = value;
      continue;
    }
    const auto id = base::Uuid::Parse(value);
    if (!id) return false;
    call->ids.push_back(*id);
  }
  return true;
}

}  // namespace

void Admin::Impl::Run(const std::shared_ptr<Request>& request) {
  if (request->route->immediate != nullptr) {
    request->answer->Send(request->route->immediate(parts, request->call));
    return;
  }
  // What was done in portions before stays done, and the answer says so.
  const auto failed = [request](const store::Failure& failure) {
    if (request->progress.replayed == 0) {
      return rest::FailureReply(failure, request->answer->request_id());
    }
    return rest::Unavailable(
        "incomplete", fmt::format("{} deliveries were replayed before the database could not go "
                                  "on; repeat the request for the rest",
                                  request->progress.replayed));
  };
  rest::Serve(
      pool, std::nullopt, request->answer,
      [this, request](store::Session& session) { return RunStored(session, request); }, failed);
}

rest::Handled Admin::Impl::RunStored(store::Session& session,
                                     const std::shared_ptr<Request>& request) {
  const Route& route = *request->route;
  if (route.stored != nullptr) return route.stored(parts, session, request->call);
  if (route.waiting != nullptr) {
    return route.waiting(parts, session, request->call, {pool, key_fetcher, request->answer});
  }
  if (!route.tenant_path.empty()) return AskTenantApi(session, *request);
  if (auto reply = route.portioned(parts, session, request->call, &request->progress)) {
    return std::move(*reply);
  }
  Run(request);  // the rest, when it is its turn again
  return rest::Parked{};
}

// The body is the public API's to judge, once it is one of JSON for an organisation that is there.
rest::Handled Admin::Impl::AskTenantApi(store::Session& session, const Request& request) const {
  const Call& call = request.call;
  auto body = rest::ReadJsonBody(call.request, {.bytes_max = kTenantBodyBytesMax});
  if (auto* refusal = std::get_if<rest::Reply>(&body)) return std::move(*refusal);
  if (!store::ReadOrganisation(session, call.ids[0])) return rest::NotFound("organisation");
  if (tenant_api == nullptr) {
    return rest::ErrorReply(409, "no_api_here",
                            "this process does not have the role api, which makes and changes "
                            "monitors: ask one with both roles, or the public API");
  }
  std::string path(request.route->tenant_path);
  if (const auto at = path.find("{id}"); at != std::string::npos) {
    path.replace(at, std::string_view("{id}").size(), call.ids.back().ToString());
  }
  tenant_api->Call({.org_id = call.ids[0],
                    .actor = call.actor,
                    .method = std::string(request.route->method),
                    .path = std::move(path),
                    .body = call.request.body,
                    .remote_address = call.request.remote_address},
                   [answer = request.answer](net::ServerResponse response) {
                     answer->Send({response.status, std::move(response.body)});
                   });
  return rest::Parked{};
}

Admin::Admin(const config::Config& config, store::Pool& pool, store::Signals& signals,
             const base::Clock& clock, metrics::Metrics& metrics, ServiceState& state,
             const domain::search::Catalogue& fields, rest::KeyFetcher& key_fetcher,
             const base::Logger& log, TenantApi* tenant_api)
    : impl_(new Impl{{"admin", "(none)", PortHeaders(), clock, metrics, log},
                     {config, signals, clock, metrics, state, fields, log},
                     pool,
                     key_fetcher,
                     tenant_api,
                     {}}) {
  for (const auto& [name, token] : config.admin_tokens) {
    impl_->tokens.push_back({name, base::Sha256(token)});
  }
}

Admin::~Admin() = default;

void Admin::Handle(std::shared_ptr<net::Exchange> exchange) {
  const net::ServerRequest& given = exchange->request();
  const auto match = Router().Find(given.method, given.path);
  auto answer = std::make_shared<rest::Answer>(impl_->port, std::move(exchange),
                                               match ? match->route->pattern : std::string_view());
  if (!match) return answer->Send(Router().Refusal(given.method, given.path));
  auto request =
      std::make_shared<Impl::Request>(Impl::Request{answer, match->route, {given, {}, {}, {}}});
  const bool takes_token = match->route->access == Route::Access::kToken;
  if (takes_token) {
    std::optional<std::string> actor = impl_->ActorOf(given);
    if (!actor) return answer->Send(Unauthorized());
    request->call.actor = std::move(*actor);
  }
  if (!ReadPath(*match, &request->call)) {
    answer->Send(rest::ErrorReply(404, "not_found", "nothing has an id that is not a UUID"));
    return;
  }
  if (!takes_token) return impl_->Run(request);
  rest::GatherBody(answer, {}, [impl = impl_.get(), request] { impl->Run(request); });
}

std::size_t Admin::BodyBytesMax(std::string_view method, std::string_view path) const {
  return Router().BodyBytesMax(method, path, impl_->parts.config.admin.body_bytes_max);
}

CallBody::CallBody(const Parts& parts, const Call& call)
    : BodyReader(call.request,
                 {.bytes_max = parts.config.admin.body_bytes_max,
                  .absent = rest::BodyRules::Absent::kEmptyObject},
                 rest::Nulls::kWrong) {}

std::optional<std::string> CallBody::Reason(rest::Presence presence) {
  return FilledText("reason", presence, kReasonCharsMax);
}

ListQuery ReadListQuery(rest::QueryReader* input) {
  return {input->Integer("limit", domain::kRowPageDefault, 1, domain::kRowPageMax),
          input->Text("cursor")};
}

store::AuditEntry AuditOf(const Call& call, std::string action, std::optional<std::string> reason) {
  store::AuditEntry entry;
  entry.actor = call.actor;
  entry.action = std::move(action);
  if (!call.ids.empty()) entry.target = call.ids.back().ToString();
  entry.reason = std::move(reason);
  entry.remote_address = call.request.remote_address;
  return entry;
}

}  // namespace vedette::admin
