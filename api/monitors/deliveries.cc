#include <optional>
#include <string>
#include <utility>

#include "api/handlers.h"
#include "api/monitors/lists.h"
#include "base/json.h"
#include "base/json_or_null.h"
#include "domain/limits.h"
#include "domain/names.h"
#include "rest/page.h"
#include "rest/query_reader.h"
#include "store/deliveries/delivery_views.h"

namespace vedette::api {
namespace {

std::optional<domain::DeliveryState> ReadState(rest::QueryReader* query) {
  const auto text = query->Text("state");
  if (!text) return std::nullopt;
  for (const auto state : {domain::DeliveryState::kPending, domain::DeliveryState::kDead}) {
    if (*text == domain::DeliveryStateName(state)) return state;
  }
  query->Refuse("state", "enum", "Input should be 'pending' or 'dead'");
  return std::nullopt;
}

// What a receiver answered is the operator's to read.
std::string DeliveryText(const store::MonitorDelivery& delivery) {
  base::Json json{{"id", delivery.id.ToString()},
                  {"state", domain::DeliveryStateName(delivery.state)},
                  {"event_type", domain::NotificationTypeName(delivery.type)},
                  {"row_id", delivery.row_id.ToString()},
                  {"event_group_id", delivery.event_group_id.ToString()},
                  {"attempts", delivery.attempts},
                  {"next_attempt_at", base::OrNull(delivery.next_attempt_at)},
                  {"waiting_for", nullptr},
                  {"last_error", nullptr},
                  {"created_at", base::FormatTimestamp(delivery.created_at)}};
  if (delivery.waits_for) json["waiting_for"] = domain::DeliveryWaitName(*delivery.waits_for);
  if (delivery.last_error) json["last_error"] = *delivery.last_error;
  return base::DumpJson(json);
}

}  // namespace

rest::Handled ListDeliveries(Call& call) {
  rest::Judged<domain::Monitor> found = FindMonitor(call);
  if (auto* reply = std::get_if<rest::Reply>(&found)) return std::move(*reply);
  const base::Uuid monitor_id = std::get<domain::Monitor>(found).id;
  rest::Problems problems;
  rest::QueryReader query(call.request().query, &problems);
  const int limit = query.Integer("limit", domain::kRowPageDefault, 1, domain::kRowPageMax);
  const auto state = ReadState(&query);
  query.Finish({"cursor"});
  if (auto refusal = problems.Refusal()) return std::move(*refusal);
  std::optional<base::Uuid> before;
  if (const auto cursor = query.Text("cursor")) {
    before = rest::DecodeIdCursor(DeliveriesOf(monitor_id), *cursor);
    if (!before) return rest::InvalidCursor();
  }
  const auto page = rest::CutPage(
      store::ListMonitorDeliveries(call.session, monitor_id, state, before, limit + 1), limit,
      [&](const store::MonitorDelivery& delivery) {
        return rest::EncodeCursor(DeliveriesOf(monitor_id), delivery.id);
      });
  return rest::Reply{200,
                     rest::PageText("deliveries", page,
                                    [](const store::MonitorDelivery& delivery, std::string* text) {
                                      text->append(DeliveryText(delivery));
                                    })};
}

}  // namespace vedette::api
