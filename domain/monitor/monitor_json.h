#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "domain/monitor/monitor.h"

// The JSON shapes of monitors, rows, events and ticks, as compact text. The public API and the
// admin port both show these. Pure.
namespace vedette::domain {

// A JSON string, quoted and escaped; invalid UTF-8 is replaced.
std::string JsonText(std::string_view text);

// The detail view without `rows`, a complete object.
std::string MonitorDetailJson(const Monitor& monitor, const CheckPrices& prices_mc);

// The detail view up to and including `"rows":[`; the code that streams it closes with
// kMonitorDetailTail.
std::string MonitorDetailHead(const Monitor& monitor, const CheckPrices& prices_mc);
inline constexpr std::string_view kMonitorDetailTail = "]}";

std::string MonitorSummaryJson(const Monitor& monitor, const CheckPrices& prices_mc);

// Writes rows of one monitor. What they share is written once, at construction. Append throws
// std::invalid_argument where a text of the row is no JSON.
class RowJson {
 public:
  enum class View {
    kPage,    // in a page of rows: with `struct` and `webhook_event_types`
    kDetail,  // inside the detail view: `watched` in place of `struct`, no `webhook_event_types`
  };
  RowJson(const Monitor& monitor, View view);
  void Append(const Row& row, std::string* out) const;

 private:
  std::string before_subject_;
  std::string before_active_;
  std::string before_last_run_;
  std::string before_created_;
  base::Json watched_;
  FieldVersions field_versions_;
};

std::string EventJson(const Event& event);
std::string TickJson(const Tick& tick);

// What a change of a list, or of a text of several lines, comes to. Pure; any thread.

struct ValueDiff {
  // In the order of the value that they are from; each as often as there are more of it.
  std::vector<std::string> added;
  std::vector<std::string> removed;
};

// Compares two values, given as JSON texts: lists where both are arrays, or texts of arrays
// (`css:li | all`); lines where both are texts and one of them has several. Nothing for other
// values. White space around an item or a line, and blank lines, do not count.
std::optional<ValueDiff> DiffOfValues(std::string_view previous_json,
                                      std::string_view current_json);

}  // namespace vedette::domain
