#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/kit/answer.h"
#include "api/kit/reply.h"
#include "base/assert.h"
#include "base/byte_budget.h"
#include "base/uuid.h"
#include "net/http_server.h"
#include "store/session.h"

// What a handler has at hand, what a route is, and how a request finds its own. A port's routes are
// one table of data; dispatch, 404, 405, body limits, metric labels and the tests that hold
// documents against the table read it.
namespace vedette::rest {

// The id that a parameter of the path is. Refuses what is none: there is no such <what> (404).
base::Uuid IdOrRefuse(const std::string& text, std::string_view what);

// One request. `Dependencies` is what the port's handlers use of the process, `Caller` who asks. A
// copy keeps the answer, and serves a request that goes on later (On).
template <typename PortDependencies, typename PortCaller>
struct Call {
  using Dependencies = PortDependencies;
  using Caller = PortCaller;

  const Dependencies& parts;
  store::Session* connection = nullptr;  // null on the server's thread
  std::shared_ptr<Answer> answer;
  std::vector<std::string> params;  // of the path: decoded, in the order of the pattern
  std::size_t body_bytes_max = 0;   // of the route
  Caller caller{};
  // Refuses what would be refused if it came now, where the port knows credentials: for a handler
  // whose body comes for minutes.
  std::function<void(store::Session&)> check_again{};

  store::Session& session() const {
    base::Assert(connection != nullptr, "only a handler on the pool has a session");
    return *connection;
  }
  const net::ServerRequest& request() const { return answer->request(); }
  // What this request holds of its port's budget of bytes, on account of the caller's organisation;
  // the body is in it. Handlers take more for what they make of it, and for their answers.
  base::ByteBudget::Holding& held() const { return answer->exchange().held(); }
  // The parameter as an id: refuses what is none.
  base::Uuid Id(std::size_t place, std::string_view what = "id") const {
    return IdOrRefuse(params.at(place), what);
  }

  // The same request with another session.
  Call On(store::Session* other) const {
    Call call = *this;
    call.connection = other;
    return call;
  }
};

// Replies, parks the answer (api/kit/answer.h), or throws: a Refusal, or what the store throws.
template <typename Call>
using Handler = Handled (*)(Call& call);

// Goes on with a request in a job of its own, in the turn of `turn`, as Serve does: its answer is
// parked meanwhile.
template <typename Call>
Parked ServeLater(store::Pool& pool, const std::optional<base::Uuid>& turn, const Call& call,
                  std::function<Handled(Call&)> handler, FailureHandler failed = {}) {
  Serve(
      pool, turn, call.answer,
      [parked = call.On(nullptr), handler = std::move(handler)](store::Session& session) {
        Call again = parked.On(&session);
        return handler(again);
      },
      std::move(failed));
  return {};
}

// What a route's requests carry. kUpload: a body that the handler reads in pieces.
enum class Body { kNone, kJson, kForm, kUpload };

// What a request must show, and on which thread it is served.
enum class Access {
  kCredential,  // one of the port's: an API key or a token of a tenant, an operator's token
  kManagement,  // a tenant's that stands for a whole organisation and may manage OAuth clients
  kAssertion,   // an OAuth client's assertion, in its body: the handler reads it, and has no caller
  kSignedLink,  // a link that was given out: likewise
  kOpen,        // nothing. Served on the server's thread: the handler has no session, and does not
                // block
};

// Whether a handler reads parameters of the query: it refuses what it does not know
// (QueryReader::Finish). Where it reads none and there is a caller, any is refused before it.
enum class Query { kNone, kRead };

// What a route's requests carry and show, and whom they are for. A row says what differs.
struct RouteRules {
  Body body = Body::kNone;
  std::size_t body_bytes_max = 0;  // 0: the port's default
  Access access = Access::kCredential;
  std::string_view feature{};  // what the caller's organisation must have, or none
  Query query = Query::kNone;
  bool when_locked = false;  // also of an organisation that is locked

  // Whether there is a caller, since a credential is asked for.
  constexpr bool has_caller() const {
    return access == Access::kCredential || access == Access::kManagement;
  }
};

// One row of a port's table.
template <typename Call>
struct Route : RouteRules {
  constexpr Route(std::string_view a_method, std::string_view a_pattern, Handler<Call> a_handler,
                  const RouteRules& rules = {})
      : RouteRules(rules), method(a_method), pattern(a_pattern), handler(a_handler) {}

  std::string_view method;
  std::string_view pattern;  // "/monitors/{monitor_id}": "{name}" stands for one segment
  Handler<Call> handler;
};

// What a request to a route without a body may send all the same; it is not read.
inline constexpr std::size_t kStrayBodyBytesMax = 65536;

// The limit of its requests' bodies.
template <typename Call>
std::size_t BodyBytesMax(const Route<Call>& route, std::size_t by_default) {
  if (route.body == Body::kNone) return kStrayBodyBytesMax;
  return route.body_bytes_max == 0 ? by_default : route.body_bytes_max;
}

template <typename Call>
struct Match {
  const Route<Call>* route = nullptr;
  std::vector<std::string> params;  // decoded, in the order of the pattern
};

// The parameters where `path`, still percent-encoded, has the pattern. Every parameter has at least
// one character. A path with a bad escape has no pattern. Pure.
std::optional<std::vector<std::string>> MatchPattern(std::string_view pattern,
                                                     std::string_view path);

// 404; `hint`: where to look instead, for the end of the sentence.
Reply NoSuchPath(std::string_view path, std::string_view hint = {});
// 405; `allowed` becomes the Allow header.
Reply WrongMethod(std::string_view method, std::string_view allowed);

// Finds routes in a table, in which literal segments stand before parameters: the first match
// counts. The table must outlive this object. Immutable.
template <typename Call>
class Router {
 public:
  constexpr explicit Router(std::span<const Route<Call>> routes) : routes_(routes) {}

  // The route that has this method and path, if there is one.
  std::optional<Match<Call>> Find(std::string_view method, std::string_view path) const {
    for (const Route<Call>& route : routes_) {
      if (route.method != method) continue;
      if (auto params = MatchPattern(route.pattern, path)) {
        return Match<Call>{&route, std::move(*params)};
      }
    }
    return std::nullopt;
  }

  // The methods that the path has, as an Allow header has them; empty for an unknown path.
  std::string AllowedMethods(std::string_view path) const {
    std::string methods;
    for (const Route<Call>& route : routes_) {
      if (!MatchPattern(route.pattern, path)) continue;
      if (!methods.empty()) methods += ", ";
      methods += route.method;
    }
    return methods;
  }

  // The answer to a request that has no route; `hint` as NoSuchPath has it.
  Reply NoRoute(std::string_view method, std::string_view path, std::string_view hint = {}) const {
    const std::string allowed = AllowedMethods(path);
    return allowed.empty() ? NoSuchPath(path, hint) : WrongMethod(method, allowed);
  }

  // For HttpService::BodyBytesMax.
  std::size_t BodyBytesMax(std::string_view method, std::string_view path,
                           std::size_t by_default) const {
    const auto match = Find(method, path);
    return match ? rest::BodyBytesMax(*match->route, by_default) : kStrayBodyBytesMax;
  }

 private:
  std::span<const Route<Call>> routes_;
};

}  // namespace vedette::rest
