#include <limits>
#include <utility>

#include "api/handlers.h"
#include "api/monitors/lists.h"
#include "config/config.h"

namespace vedette::api {

// The detail view shows every row, whatever their number.
rest::Handled ShowMonitor(Call& call) {
  rest::Judged<domain::Monitor> found = FindMonitor(call);
  if (auto* reply = std::get_if<rest::Reply>(&found)) return std::move(*reply);
  const auto monitor =
      std::make_shared<const domain::Monitor>(std::move(std::get<domain::Monitor>(found)));
  auto list = RowListParts(monitor, domain::RowJson::View::kDetail, -1);
  list.head = domain::MonitorDetailHead(*monitor, call.parts.config.prices_mc);
  list.limit = std::numeric_limits<int>::max();
  list.tail = [](const domain::Row*) { return std::string(domain::kMonitorDetailTail); };
  return SendList(call, std::move(list));
}

}  // namespace vedette::api
