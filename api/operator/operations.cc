#include <exception>
#include <string_view>
#include <utility>

#include "api/operator/admin_json.h"
#include "api/operator/handlers.h"
#include "base/json.h"
#include "base/version.h"
#include "config/parts.h"
#include "config/security_config.h"
#include "store/accounts/cells.h"
#include "store/audit.h"
#include "store/fleet/fleet.h"
#include "store/jobs/gauges.h"

namespace vedette::admin {
namespace {

// A letter of its own, as each list of the port has.
constexpr rest::CursorOf kCellRouteList{'C'};

base::Json CellRouteJson(const store::CellRoute& route) {
  return {{"org_id", route.org_id.ToString()},
          {"external_id", route.external_id ? base::Json(*route.external_id) : base::Json(nullptr)},
          {"prefixes", route.prefixes}};
}

}  // namespace

rest::Reply HealthReply() {
  return rest::JsonReply(200, {{"alive", true}});
}

rest::Reply ReadinessReply(const ServiceState& state) {
  std::vector<std::string> reasons;
  const bool ready = state.Ready(&reasons);
  base::Json body = base::Json::object();
  body["ready"] = ready;
  body["reasons"] = reasons;
  const std::string lack = state.rendering_lack();
  body["rendering"] = {{"available", lack.empty()},
                       {"why", lack.empty() ? base::Json() : base::Json(lack)}};
  return rest::JsonReply(ready ? 200 : 503, body);
}

rest::Reply MetricsReply(metrics::Metrics& metrics) {
  return {200, metrics.Expose(), {{"Content-Type", "text/plain; version=0.0.4; charset=utf-8"}}};
}

rest::Handled GetHealth(Call&) {
  return HealthReply();
}

rest::Handled GetReadiness(Call& call) {
  return ReadinessReply(call.parts.state);
}

rest::Handled GetMetrics(Call& call) {
  return MetricsReply(call.parts.metrics);
}

rest::Handled GetMe(Call& call) {
  base::Json me{{"name", call.caller.name}, {"role", RoleName(call.caller.role)}};
  if (const auto& own = call.caller.session) {
    me["csrf_token"] = own->csrf_token;
    me["expires_at"] = base::FormatTimestamp(own->expires_at);
  }
  return rest::JsonReply(200, me);
}

rest::Handled GetOverview(Call& call) {
  base::Json json =
      OverviewJson(store::ReadOverview(call.session()), store::ReadJobOverview(call.session()),
                   call.parts.state.member_id());
  json["cell"] = call.parts.config.cell.id;
  return rest::JsonReply(200, json);
}

namespace {

base::Json OwnCell(const Call& call) {
  const std::string& cell = call.parts.config.cell.id;
  const store::CellCounts counts = store::CountCell(call.session(), cell);
  return {{"cell", cell},
          {"version", base::VersionAndCommit()},
          {"organisations", counts.organisations},
          {"monitors", counts.monitors},
          {"checks_due", counts.checks_due},
          {"lag_ms", counts.lag_ms},
          {"undelivered_ms", counts.undelivered_ms ? base::Json(*counts.undelivered_ms) : nullptr}};
}

// Asks the other cells, if there are any, and sends what `add` has made of their answers by then.
rest::Handled WithOtherCells(const Call& call, std::string path, std::string q, base::Json body,
                             void (*add)(const CellAnswer& answer, base::Json* body)) {
  if (call.parts.other_cells == nullptr) return rest::JsonReply(200, body);
  call.parts.other_cells->Ask(std::move(path), std::move(q),
                              [answer = call.answer, body = std::move(body),
                               add](const std::vector<CellAnswer>& answers) mutable {
                                for (const CellAnswer& one : answers) add(one, &body);
                                answer->Send(rest::JsonReply(200, body));
                              });
  return rest::Parked{};
}

}  // namespace

rest::Handled GetCell(Call& call) {
  return rest::JsonReply(200, OwnCell(call));
}

rest::Handled GetCells(Call& call) {
  base::Json body{{"items", base::Json::array()}};
  AddCell({call.parts.config.cell.id, {}, base::DumpJson(OwnCell(call)), {}}, &body);
  return WithOtherCells(call, "/admin/v1/cell", {}, std::move(body), AddCell);
}

// By the names that each cell has; an id is also looked up in the directory, which tells where an
// organisation is whose cell does not answer.
rest::Handled GetDirectory(Call& call) {
  rest::Problems problems;
  rest::QueryReader input(call.request().query, &problems);
  store::OrganisationQuery query;
  query.q = input.Text("q").value_or("");
  query.limit = kFoundPerCellMax + 1;
  if (query.q.empty()) {
    input.Refuse("q", "missing", "Input should be an id, an external id or a part of a name");
  }
  problems.Check();
  base::Json body = NothingFound();
  if (const auto id = base::Uuid::Parse(query.q)) {
    body["lives_at"] = TextJson(store::CellOfOrganisation(call.session(), *id));
  }
  base::Json own{{"items", base::Json::array()}};
  for (const store::Organisation& org : store::ListOrganisations(call.session(), query)) {
    own["items"].push_back(OrganisationJson(org));
  }
  AddFound({call.parts.config.cell.id, {}, base::DumpJson(own), {}}, &body);
  return WithOtherCells(call, "/admin/v1/orgs", query.q, std::move(body), AddFound);
}

rest::Handled GetCellRoutes(Call& call) {
  rest::Problems problems;
  rest::QueryReader input(call.request().query, &problems);
  const ListQuery list = ReadListQuery(&input);
  problems.Check();
  std::optional<base::Uuid> after;
  if (list.cursor) {
    after = rest::DecodeIdCursor(kCellRouteList, *list.cursor);
    if (!after) return rest::InvalidCursor();
  }
  const auto page = rest::CutPage(
      store::ListCellRoutes(call.session(), call.parts.config.cell.id, after, list.limit + 1),
      list.limit, [](const store::CellRoute& route) {
        return rest::EncodeCursor(kCellRouteList, route.org_id);
      });
  return ListReply(page, CellRouteJson);
}

// An operator drains a process also while the database is away: the log is told either way, the
// audit where it can be.
rest::Handled PostDrain(Call& call) {
  CallBody body(call);
  const auto reason = body.Reason();
  body.Check();
  store::AuditEntry audit = AuditOf(call, "member.drain", reason);
  audit.target = call.parts.state.member_id().ToString();
  // The log names tokens, and no person.
  const std::string who = call.caller.session ? "a session of the console" : audit.actor;
  call.parts.log.Info("drain ordered through the admin port",
                      {{"actor", who}, {"remote_address", audit.remote_address}});
  bool audited = false;
  try {
    store::WriteAudit(call.session(), call.parts.clock, audit);
    audited = true;
  } catch (const std::exception& e) {
    call.parts.log.Warn("the drain could not be written to the audit",
                        {{"actor", who}, {"error", e.what()}});
  }
  call.parts.state.Drain();
  return rest::JsonReply(202,
                         {{"draining", true}, {"member_id", audit.target}, {"audited", audited}});
}

namespace {

constexpr std::pair<std::string_view, std::string_view> kFiles[] = {
#include "admin_console.inc"
};

constexpr std::string_view kIndex = "index.html";

// What is shown comes from pages and receivers that nobody here wrote: no script but our own files,
// no address but this port, and nobody may frame it.
constexpr std::string_view kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

std::string_view ContentType(std::string_view file) {
  if (file.ends_with(".html")) return "text/html; charset=utf-8";
  if (file.ends_with(".js")) return "text/javascript; charset=utf-8";
  if (file.ends_with(".css")) return "text/css; charset=utf-8";
  if (file.ends_with(".svg")) return "image/svg+xml";
  return "text/plain; charset=utf-8";
}

rest::Reply Serve(std::string_view file) {
  for (const auto& [name, text] : kFiles) {
    if (name != file) continue;
    return {200,
            std::string(text),
            {{"Content-Type", std::string(ContentType(file))},
             {"Content-Security-Policy", std::string(kPolicy)},
             {"Referrer-Policy", "no-referrer"},
             {"X-Frame-Options", "DENY"},
             {"Cache-Control", "no-cache"}}};
  }
  return rest::NotFound("file");
}

}  // namespace

rest::Handled GetConsole(Call&) {
  return Serve(kIndex);
}

rest::Handled GetConsoleAsset(Call& call) {
  return Serve(call.params.back());
}

}  // namespace vedette::admin
