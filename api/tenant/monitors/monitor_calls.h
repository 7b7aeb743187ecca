#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/kit/cursor.h"
#include "api/kit/list_stream.h"
#include "api/kit/reply.h"
#include "api/tenant/call.h"
#include "api/tenant/monitors/monitor_body.h"
#include "base/uuid.h"
#include "config/config_fwd.h"
#include "domain/monitor/enums.h"
#include "domain/monitor/monitor_json.h"
#include "domain/monitor/row_values.h"

namespace vedette::api {

// The lists of monitors, and whose each is. A list's letter stays for good: clients keep cursors.
inline rest::CursorOf MonitorsOf(const Call& call, const base::Uuid& team_or_org_id) {
  return {'m', team_or_org_id, CellOf(call)};
}
inline rest::CursorOf RowsOf(const Call& call, const base::Uuid& monitor_id) {
  return {'r', monitor_id, CellOf(call)};
}
inline rest::CursorOf TicksOf(const Call& call, const base::Uuid& monitor_id) {
  return {'t', monitor_id, CellOf(call)};
}

inline rest::CursorOf EventsOf(const Call& call, const base::Uuid& monitor_team_or_org_id) {
  return {'e', monitor_team_or_org_id, CellOf(call)};
}
inline rest::CursorOf SnapshotsOf(const Call& call, const base::Uuid& row_id) {
  return {'n', row_id, CellOf(call)};
}
inline rest::CursorOf DeliveriesOf(const Call& call, const base::Uuid& monitor_id) {
  return {'d', monitor_id, CellOf(call)};
}

// How all rows of a monitor after `after_position` are read and written; the caller adds head,
// limit and tail.
rest::ListPieces<domain::Row> RowListParts(const std::shared_ptr<const domain::Monitor>& monitor,
                                           domain::RowJson::View view, int after_position);

// Refuse with the 403 of a frequency or a tier that the organisation has no feature for.
void CheckFrequency(const Call& call, const NeedsTesting& needs_testing);
void CheckTier(const Call& call, domain::Tier tier);

// The outcome of `write`. While others have changed that by which it was validated it is
// validated again by `validate` and tried again, kTriesMax times in all.
template <typename Write, typename Validate>
auto WriteValidated(const Write& write, const Validate& validate) {
  constexpr int kTriesMax = 10;
  auto outcome = write();
  for (int n = 1; n < kTriesMax && outcome.kind == decltype(outcome)::Kind::kChanged; ++n) {
    validate();
    outcome = write();
  }
  return outcome;
}
// The 409 of what ("monitor") was changed each time.
rest::Reply ChangedMeanwhile(std::string_view what);

// What a test of a webhook or a channel answers.
rest::Reply TestReply(const WebhookTestOutcome& outcome);

// The sentence about rows whose checks will fail because the web probe of their tier finds no
// address in them; nothing where all have one, or where another probe serves the tier. Looks at the
// first kAddressRowsLookedAtMax rows. Pure.
inline constexpr std::size_t kAddressRowsLookedAtMax = 1000;
std::optional<std::string> AddressWarning(const std::vector<domain::RowValues>& rows,
                                          domain::Tier tier, const config::Config& config);

}  // namespace vedette::api
