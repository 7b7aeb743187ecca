#pragma once

#include <optional>
#include <string>

#include "api/operator/admin.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/uuid.h"
#include "store/accounts/accounts.h"
#include "store/audit.h"
#include "store/deliveries/delivery_views.h"
#include "store/fleet/fleet.h"
#include "store/jobs/gauges.h"

// The JSON of the admin port. Pure.
namespace vedette::admin {

base::Json TimeJson(const std::optional<base::Timestamp>& t);  // null where empty
base::Json TextJson(const std::optional<std::string>& text);
base::Json IdJson(const std::optional<base::Uuid>& id);

base::Json TeamJson(const store::Team& team);
base::Json OrganisationJson(const store::Organisation& org);
// What it waits for, or null.
base::Json WaitingForJson(const store::DeliveryView& delivery);
base::Json DeliveryJson(const store::DeliveryView& delivery);
// With its attempts. What receivers answered is shown as text, invalid UTF-8 replaced.
base::Json DeliveryDetailJson(const store::DeliveryDetail& detail);
// Lists over several cells, to which an answer of each is added after the other: of /admin/v1/cell
// to {"items": []}, and of /admin/v1/orgs to what NothingFound gives. Of an answer only what is
// known here is taken; without a URL it is this cell's own.
void AddCell(const CellAnswer& answer, base::Json* body);
// {"items": [], "more": whether a cell has more than is shown, "unreachable": [{"cell", "error"}],
// "lives_at": the cell that the directory has for the id that is looked for, or null}
base::Json NothingFound();
inline constexpr int kFoundPerCellMax = 100;
void AddFound(const CellAnswer& answer, base::Json* body);
base::Json OverviewJson(const store::Overview& overview, const store::JobOverview& jobs,
                        const base::Uuid& this_member);

}  // namespace vedette::admin
