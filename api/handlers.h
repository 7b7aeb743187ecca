#pragma once

#include "api/call.h"

// One handler a route; the table of routes is in routes.cc.
namespace vedette::api {

// monitors.cc
Handled CreateMonitor(Call& call);
Handled ListMonitors(Call& call);
Handled ListMonitorsForRun(Call& call);
Handled UpdateMonitor(Call& call);
Handled CancelMonitor(Call& call);
Handled TriggerMonitor(Call& call);
Handled TestWebhook(Call& call);

// detail.cc
Handled ShowMonitor(Call& call);

// rows.cc
Handled ListRows(Call& call);
Handled AddRows(Call& call);
Handled SwitchRow(Call& call);

// uploads.cc
Handled UploadCsv(Call& call);

// history.cc
Handled ListEvents(Call& call);
Handled ListTicks(Call& call);

}  // namespace vedette::api
