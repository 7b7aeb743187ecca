#include "admin/admin.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "admin/routes.h"
#include "base/crypto.h"
#include "store/async.h"

namespace vedette::admin {
namespace {

constexpr std::size_t kRequestIdCharsMax = 128;
constexpr std::string_view kUnmatchedRoute = "admin (none)";

// What came with "Authorization: Bearer <token>"; empty without.
std::string_view BearerToken(const net::ServerRequest& request) {
  constexpr std::string_view kScheme = "bearer ";
  std::string_view header = request.Header("authorization");
  if (header.size() <= kScheme.size()) return {};
  for (std::size_t i = 0; i < kScheme.size(); ++i) {
    const char c = header[i];
    if ((c >= 'A' && c <= 'Z' ? c + 32 : c) != kScheme[i]) return {};
  }
  header.remove_prefix(kScheme.size());
  while (header.starts_with(' ')) header.remove_prefix(1);
  return header;
}

bool IsSaneRequestId(std::string_view id) {
  return !id.empty() && id.size() <= kRequestIdCharsMax &&
         std::all_of(id.begin(), id.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '-' || c == '_' || c == '.';
         });
}

Answer AnswerOf(const store::Failure& failure) {
  using Kind = store::Failure::Kind;
  switch (failure.kind) {
    case Kind::kUnavailable:
      return TryLater("unavailable", "the database cannot be reached; nothing was changed");
    case Kind::kContention:
      return TryLater("contention", "the database is busy with the same rows; nothing was changed");
    case Kind::kOverloaded:
      return TryLater("overloaded", "too many requests are waiting; nothing was changed");
    case Kind::kCommitUnknown:
      return ErrorAnswer(500, "commit_unknown",
                         "the connection to the database broke while the change was being "
                         "committed: look whether it happened before repeating it");
    case Kind::kFault:
      break;
  }
  return ErrorAnswer(500, "internal_error", "an unexpected failure; the log has more");
}

}  // namespace

struct Admin::Impl {
  struct Token {
    std::string name;
    std::string sha256;
  };

  Parts parts;
  store::Pool& pool;
  std::vector<Token> tokens;

  // One request on its way: everything that the answer needs when it is there.
  struct Request {
    std::shared_ptr<net::Exchange> exchange;
    const Route* route = nullptr;
    Call call;
    std::chrono::nanoseconds started;
    store::ReplayProgress progress{};  // of a portioned one
  };

  void Send(const Request& request, Answer answer);
  std::optional<std::string> ActorOf(const net::ServerRequest& request) const;
  bool ReadPath(const RouteMatch& match, Request* request, Answer* refusal) const;
  void Run(const std::shared_ptr<Request>& request);
  std::optional<Answer> RunOnce(store::Session& session, Request* request) const;
  void LogFailure(const Request& request, const store::Failure& failure) const;
  static Answer FailedAnswer(const Request& request, const store::Failure& failure);
};

void Admin::Impl::Send(const Request& request, Answer answer) {
  const auto& given = request.exchange->request();
  const std::string_view id = given.Header("x-request-id");
  answer.headers.emplace_back("X-Request-Id",
                              IsSaneRequestId(id) ? std::string(id) : base::Uuid::V4().ToString());
  answer.headers.emplace_back("X-Content-Type-Options", "nosniff");
  const std::string label = request.route == nullptr
                                ? std::string(kUnmatchedRoute)
                                : fmt::format("admin {}", request.route->pattern);
  const auto took = parts.clock.SinceBoot() - request.started;
  parts.metrics.ObserveHttpRequest(label, answer.status,
                                   std::chrono::duration_cast<std::chrono::microseconds>(took));
  request.exchange->Send(std::move(answer));
}

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

bool Admin::Impl::ReadPath(const RouteMatch& match, Request* request, Answer* refusal) const {
  for (const std::string& value : match.values) {
    std::string text;
    try {
      text = net::PercentDecode(value, false);
    } catch (const std::invalid_argument&) {
      *refusal = NotFound("route");
      return false;
    }
    if (match.route->access == Route::Access::kOpen) {
      request->call.asset = text;
      continue;
    }
    const auto id = base::Uuid::Parse(text);
    if (!id) {
      *refusal = ErrorAnswer(404, "not_found", "nothing has an id that is not a UUID");
      return false;
    }
    request->call.ids.push_back(*id);
  }
  return true;
}

void Admin::Impl::Run(const std::shared_ptr<Request>& request) {
  if (request->route->immediate != nullptr) {
    Send(*request, request->route->immediate(parts, request->call));
    return;
  }
  const bool queued = pool.Post([this, request](store::Session& session) {
    if (auto answer = RunOnce(session, request.get())) {
      Send(*request, std::move(*answer));
    } else {
      Run(request);  // the rest, when it is its turn again
    }
  });
  if (!queued) {
    Send(*request, FailedAnswer(*request, {store::Failure::Kind::kOverloaded, {}}));
  }
}

// Empty: there is more to do.
std::optional<Answer> Admin::Impl::RunOnce(store::Session& session, Request* request) const {
  try {
    if (request->route->stored != nullptr) {
      return request->route->stored(parts, session, request->call);
    }
    return request->route->portioned(parts, session, request->call, &request->progress);
  } catch (...) {
    const store::Failure failure = store::CurrentFailure();
    LogFailure(*request, failure);
    return FailedAnswer(*request, failure);
  }
}

// What was done in portions before stays done, and the answer says so.
Answer Admin::Impl::FailedAnswer(const Request& request, const store::Failure& failure) {
  if (request.progress.replayed == 0) return AnswerOf(failure);
  return TryLater("incomplete", fmt::format("{} deliveries were replayed before the database could "
                                            "not go on; repeat the request for the rest",
                                            request.progress.replayed));
}

// A fault is ours to mend; the rest is the database's state, which readiness tells as well.
void Admin::Impl::LogFailure(const Request& request, const store::Failure& failure) const {
  const base::Logger::Fields fields = {{"route", request.route->pattern},
                                       {"method", request.route->method},
                                       {"error", failure.message}};
  if (failure.kind == store::Failure::Kind::kFault) {
    parts.log.Error("a request failed", fields);
  } else {
    parts.log.Warn("a request could not be served", fields);
  }
}

Admin::Admin(const config::Config& config, store::Pool& pool, store::Signals& signals,
             const base::Clock& clock, metrics::Metrics& metrics, ServiceState& state,
             const base::Logger& log)
    : impl_(new Impl{{config, signals, clock, metrics, state, log}, pool, {}}) {
  for (const auto& [name, token] : config.admin_tokens) {
    impl_->tokens.push_back({name, base::Sha256(token)});
  }
}

Admin::~Admin() = default;

void Admin::Handle(std::shared_ptr<net::Exchange> exchange) {
  const net::ServerRequest& given = exchange->request();
  auto request = std::make_shared<Impl::Request>(
      Impl::Request{exchange, nullptr, {given, {}, {}, {}}, impl_->parts.clock.SinceBoot()});
  const RouteMatch match = FindRoute(given.method, given.path);
  if (match.route == nullptr) {
    if (match.allowed.empty()) return impl_->Send(*request, NotFound("route"));
    Answer answer = ErrorAnswer(405, "method_not_allowed",
                                fmt::format("this path takes {}", fmt::join(match.allowed, ", ")));
    answer.headers.emplace_back("Allow", fmt::format("{}", fmt::join(match.allowed, ", ")));
    return impl_->Send(*request, std::move(answer));
  }
  request->route = match.route;
  if (match.route->access == Route::Access::kToken) {
    std::optional<std::string> actor = impl_->ActorOf(given);
    if (!actor) {
      Answer answer = ErrorAnswer(401, "unauthorized",
                                  "send Authorization: Bearer with one of the admin tokens");
      answer.headers.emplace_back("WWW-Authenticate", "Bearer realm=\"vedette admin\"");
      return impl_->Send(*request, std::move(answer));
    }
    request->call.actor = std::move(*actor);
  }
  Answer refusal;
  if (!impl_->ReadPath(match, request.get(), &refusal)) {
    return impl_->Send(*request, std::move(refusal));
  }
  if (given.body_pending && match.route->access == Route::Access::kToken) {
    exchange->Gather({}, [impl = impl_.get(), request](net::Gathered how) {
      if (how == net::Gathered::kWhole) impl->Run(request);
    });
    return;
  }
  impl_->Run(request);
}

bool Admin::TakesBody(std::string_view, std::string_view) const {
  return true;
}

std::size_t Admin::BodyBytesMax(std::string_view, std::string_view) const {
  return impl_->parts.config.admin.body_bytes_max;
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
