// The demo's step that runs a workflow: a file of companies and people becomes verified addresses
// and a monitor, whose change arrives as a signed webhook.
#include <fmt/format.h>

#include <algorithm>

#include "app/demo/demo_story.h"
#include "app/demo/json_text.h"
#include "domain/names.h"

namespace vedette::app {
namespace {

using base::Json;

Json Block(int number, const char* name, Json specs) {
  return {{"sequence_number", number},
          {"block_name", name},
          {"block_id", name},
          {"specs", std::move(specs)}};
}

// read_csv, find_email, filter, monitor: each works on the one before it.
Json Definition(const std::string& receiver) {
  const Json is_ok{{"column", "email_status"}, {"op", "eq"}, {"value", "OK"}};
  Json blocks = Json::array();
  blocks.push_back(Block(1, "read_csv", Json{{"dataframe_type", "LEAD"}}));
  blocks.push_back(Block(2, "find_email", Json::object()));
  blocks.push_back(Block(3, "filter", Json{{"conditions", Json::array({is_ok})}}));
  blocks.push_back(Block(
      4, "monitor",
      Json{{"name", "Companies of verified leads"},
           {"key_columns", Json::array({"company"})},
           {"struct", DemoSite::WatchedFields()},
           {"webhook_url", receiver},
           {"webhook_event_types",
            Json::array({domain::NotificationTypeName(domain::NotificationType::kChanged)})}}));
  Json edges = Json::array();
  for (std::size_t i = 1; i < blocks.size(); ++i) {
    edges.push_back(
        {{"from_block_id", blocks[i - 1]["block_id"]}, {"to_block_id", blocks[i]["block_id"]}});
  }
  return {{"blocks", std::move(blocks)}, {"edges", std::move(edges)}};
}

}  // namespace

std::string DemoStory::LeadsCsv() const {
  std::string csv = "name,domain,company,url\n";
  const auto companies = deps_.site.companies();
  for (std::size_t i = 0; i < DemoMail::leads().size(); ++i) {
    const DemoMail::Lead& lead = DemoMail::leads()[i];
    const DemoSite::Company& company = companies.at(i);
    csv += fmt::format("{},{},{},{}{}\n", lead.name, lead.domain, company.name, deps_.site_address,
                       deps_.site.PathOf(company));
  }
  return csv;
}

std::string DemoStory::RunToItsEnd(const std::string& workflow) {
  const std::string handle =
      TextAt(api_->Upload("/storage/csv/upload", "text/csv", LeadsCsv()), "handle_id");
  const std::string run =
      TextAt(api_->Expect("POST", "/workflows/run?workflow_id=" + workflow,
                          Json{{"specs_override", {{"resource_handle_id", handle}}}}),
             "job_id");
  Json live;
  WaitUntil("the run's end", [&](std::string* seen) {
    live = api_->Expect("GET", "/workflows/runs/" + run + "/live_status");
    *seen = fmt::format("the run is {}, at {} %", TextAt(live, "overall_status"),
                        TextAt(live, "overall_progress_percentage"));
    return !TextAt(live, "completed_at").empty();
  });
  if (TextAt(live, "overall_status") != "completed") {
    Fail(fmt::format("the run ended as {}: {}", TextAt(live, "overall_status"),
                     TextAt(live, "error_message")));
  }
  return run;
}

void DemoStory::TellFileOf(const std::string& run) {
  const Json links = api_->Expect("GET", "/workflows/runs/" + run + "/results/download-links");
  const std::string url = TextAt(links.at(0), "download_url");
  const std::size_t path = url.find("/storage/");
  if (path == std::string::npos) Fail("the run's file has no link");
  const JsonClient::Answer file = api_->Call("GET", url.substr(path));
  for (const DemoMail::Lead& lead : DemoMail::leads()) {
    if (file.text.find("," + lead.address + ",") == std::string::npos) {
      Fail(fmt::format("{} was to be in the run's file", lead.address));
    }
    deps_.narrator.Observed(fmt::format("{}: {}, verified", lead.name, lead.address));
  }
  deps_.narrator.Note(TextAt(links.at(0), "filename"));
}

std::string DemoStory::MonitorOfRun(const std::string& run) {
  const Json monitors = api_->Expect("GET", "/monitors/for-run/" + run);
  if (monitors.size() != 1 || TextAt(monitors[0], "status") != "active") {
    Fail(
        fmt::format("the run was to make one active monitor, it has {}", base::DumpJson(monitors)));
  }
  deps_.narrator.Observed(
      fmt::format("a monitor of {} rows, made by the run", TextAt(monitors[0], "row_count")));
  return TextAt(monitors[0], "id");
}

void DemoStory::TellChangeOf(const std::string& monitor) {
  const std::string path = "/monitors/" + monitor;
  std::map<std::string, std::string> ids;  // of rows, by company
  WaitUntil("its first checks", [&](std::string* seen) {
    const Json page = api_->Expect("GET", path + "/rows");
    std::size_t checked = 0;
    for (const Json& row : page.at("rows")) {
      ids[TextAt(row.at("subject"), "company")] = TextAt(row, "id");
      if (!TextAt(row, "last_run_at").empty()) ++checked;
    }
    *seen = fmt::format("{} of {} rows checked", checked, page.at("rows").size());
    return checked == page.at("rows").size();
  });
  const DemoSite::Change change = ChangeSite();
  deps_.narrator.Note(
      fmt::format("the site now says {} for {} of {}", change.to, change.field, change.company));
  WaitUntil("a tick of its own", [&](std::string* seen) {
    const JsonClient::Answer trigger = api_->Call("POST", path + "/trigger", Json::object());
    *seen = fmt::format("a trigger answered {}", trigger.status);
    return trigger.status == 202 && trigger.body.at("joined") == false;
  });
  Json found;
  WaitUntil("the change to be found", [&](std::string* seen) {
    const Json events = api_->Expect("GET", path + "/rows/" + ids[change.company] + "/events");
    for (const Json& event : events) {
      *seen = fmt::format("an event '{}'", TextAt(event, "event_type"));
      const bool is_it = TextAt(event, "event_type") == "change" &&
                         TextAt(event, "field") == change.field &&
                         TextAt(event, "current_value") == change.to;
      if (!is_it) continue;
      found = event;
      return true;
    }
    return false;
  });
  deps_.narrator.Observed(fmt::format("{}: {} changed from {} to {}", change.company, change.field,
                                      TextAt(found, "previous_value"), change.to));
  const std::string_view type = domain::NotificationTypeName(domain::NotificationType::kChanged);
  WaitUntil("its webhook", [&](std::string* seen) {
    const auto received = deps_.receiver.Find(type, TextAt(found, "event_group_id"));
    *seen = received ? "one that was not verified" : "none";
    return received && !received->refused && received->check == domain::SignatureCheck::kValid;
  });
  deps_.narrator.Observed(fmt::format("{} arrived, its signature verified", type));
}

void DemoStory::TellWorkflow() {
  BeginStep("A file becomes verified addresses and a monitor");
  const Json made = api_->Expect(
      "POST", "/workflows/create_workflow",
      Json{{"workflow_name", "Demo leads"},
           {"workflow_definition", Definition(deps_.receiver_address + DemoReceiver::kPath)}});
  const std::string workflow = TextAt(made, "id");
  deps_.narrator.Observed("workflow 'Demo leads': read_csv, find_email, filter, monitor");
  const std::string run = RunToItsEnd(workflow);
  deps_.narrator.Observed("a CSV was uploaded, its run is completed");
  TellFileOf(run);
  const std::string monitor = MonitorOfRun(run);
  TellChangeOf(monitor);
  // The next start makes its own.
  api_->Expect("POST", "/monitors/" + monitor + "/cancel", Json::object());
  api_->Expect("POST", "/workflows/delete_workflow?workflow_id=" + workflow, Json::object());
}

}  // namespace vedette::app
