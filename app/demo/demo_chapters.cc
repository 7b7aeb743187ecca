// The demo's steps that ask: whose address it is, who is behind it, and how often values occur.

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "app/demo/demo_output.h"
#include "app/demo/demo_story.h"
#include "base/uuid.h"
#include "domain/monitor/enums.h"

namespace vedette::app {
namespace {

using base::Json;

// What is counted: everybody's documents, which the search of README.md imports, too.
Json CompanyLines() {
  Json lines = Json::array();
  lines.push_back(
      R"({"id": "1", "name": "Aurora Robotics", "industry": "robotics", "employee_count": 118})");
  lines.push_back(
      R"({"id": "2", "name": "Blue Harbor Foods", "industry": "food", "employee_count": 2310})");
  lines.push_back(
      R"({"id": "3", "name": "Cinder Analytics", "industry": "software", "employee_count": 37})");
  lines.push_back(
      R"({"id": "4", "name": "Delta Robotics", "industry": "robotics", "employee_count": 640})");
  return lines;
}

}  // namespace

void DemoStory::TellAddresses() {
  BeginStep("Addresses are found and verified");
  Json leads = Json::array();
  for (const DemoMail::Lead& lead : DemoMail::leads()) {
    leads.push_back({{"name", lead.name}, {"domain", lead.domain}});
  }
  const int asked_before = deps_.mail.recipients();
  const std::string task = TextAt(
      api_->Expect("POST", "/find-email-bulk-async", Json{{"leads", std::move(leads)}}), "task_id");
  Json status;
  WaitUntil("the addresses", [&](std::string* seen) {
    status = api_->Expect("GET", "/job-status/" + task);
    *seen = fmt::format("the job is {}, {}", TextAt(status, "status"),
                        base::DumpJson(status.at("progress")));
    return TextAt(status, "status") != "running";
  });
  if (TextAt(status, "status") != "completed") {
    Fail(fmt::format("the job ended as {}", TextAt(status, "status")));
  }
  const Json& results = status.at("result").at("results");
  int found = 0;
  for (const DemoMail::Lead& lead : DemoMail::leads()) {
    const Json& result = results.at(static_cast<std::size_t>(found++));
    const Json& best = result.at("email").at(0);
    if (Text(best.at(0)) != lead.address || Text(best.at(1)) != "OK") {
      Fail(fmt::format("{} was to be found at {}, the answer is {}", lead.name, lead.address,
                       base::DumpJson(best)));
    }
    const Json& address = result.at("details").at("addresses").at(0);
    deps_.narrator.Observed(fmt::format("{}: {} (found by {}, verified)", lead.name, lead.address,
                                        TextAt(address, "provider")));
  }
  deps_.narrator.Note(fmt::format(
      "the mail server was asked about {} recipients, and sent no mail; {} cents charged",
      deps_.mail.recipients() - asked_before, TextAt(status, "charge_amount")));
}

void DemoStory::TellPerson() {
  BeginStep("Who is behind an address");
  const DemoMail::Lead& lead = DemoMail::leads().front();
  // The organisation's own earlier lookups alone, so that nobody is asked.
  const Json person = api_->Expect(
      "POST", "/reverse-email",
      Json{{"lead", {{"email", lead.address}}}, {"providers", Json::array({"store"})}});
  if (TextAt(person, "name") != lead.name) {
    Fail(fmt::format("{} was to be behind {}, the answer is {}", lead.name, lead.address,
                     base::DumpJson(person)));
  }
  deps_.narrator.Observed(
      fmt::format("{}: {}, by what was found before", lead.address, TextAt(person, "name")));
}

void DemoStory::ImportCompanies() {
  Json batch{{"import_id", base::Uuid::V4().ToString()},
             {"mode", "company"},
             {"first_line", 0},
             {"lines", CompanyLines()},
             {"last", true}};
  WaitUntil("the documents to be visible", [&](std::string* seen) {
    const Json progress = admin_.Expect("POST", "/admin/v1/search/import", batch);
    *seen = fmt::format("the import is {}", TextAt(progress, "state"));
    // A batch that is there already is not taken again; what follows it is nothing.
    batch["first_line"] = progress.at("lines");
    batch["lines"] = Json::array();
    return TextAt(progress, "state") == "current";
  });
}

void DemoStory::TellCounts() {
  BeginStep("Values of a field are counted");
  ImportCompanies();
  deps_.narrator.Observed(
      fmt::format("{} companies imported through the admin port", CompanyLines().size()));
  const Json question{{"field", "industry"},
                      {"mode", "company"},
                      {"simple_filters", {{"employee_count", {{"$gte", 100}}}}}};
  const Json counted = api_->Expect("POST", "/search/filter-field-values", question);
  std::string told;
  for (const Json& value : counted.at("values")) {
    told += fmt::format("{}{} {}", told.empty() ? "" : ", ", TextAt(value, "value"),
                        TextAt(value, "count"));
  }
  if (told != "robotics 2, food 1") {
    Fail(fmt::format("robotics 2, food 1 was to be counted, the answer is {}",
                     base::DumpJson(counted)));
  }
  deps_.narrator.Observed(fmt::format("industries of those with 100 employees or more: {}", told));
  // What a value's own filter selects are the documents that were counted.
  const Json& first = counted.at("values").at(0);
  Json again = question;
  again["filters"] = first.at("filter_snippet");
  const Json selected = api_->Expect("POST", "/search/filter-field-values", again);
  if (selected.at("total_scoped_documents") != first.at("count")) {
    Fail(fmt::format("the filter of a value was to select {} documents, the answer is {}",
                     TextAt(first, "count"), base::DumpJson(selected)));
  }
  deps_.narrator.Note(fmt::format("the filter {} selects the same {}",
                                  base::DumpJson(first.at("filter_snippet")),
                                  TextAt(first, "count")));
}

// The demo's step that runs a workflow: a file of companies and people becomes verified addresses
// and a monitor, whose change arrives as a signed webhook.

namespace {

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

Json DemoStory::MakeMonitorSeeChange(const std::string& monitor, DemoSite::Change* changed) {
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
  *changed = ChangeSite();
  const DemoSite::Change& change = *changed;
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
  return found;
}

void DemoStory::TellChangeOf(const std::string& monitor) {
  DemoSite::Change change;
  const Json found = MakeMonitorSeeChange(monitor, &change);
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

// The demo's step that tells by e-mail what a monitor at a time of day sees.

Json DemoStory::MakeMailChannel(const std::string& address) {
  const Json made = api_->Expect(
      "POST", "/channels",
      Json{{"name", "Demo mail"},
           {"kind", "email"},
           {"target", {{"addresses", Json::array({address})}}},
           {"events",
            Json::array({domain::NotificationTypeName(domain::NotificationType::kChanged)})}});
  std::string link;
  WaitUntil("the question to the address's owner", [&](std::string* seen) {
    const auto question = deps_.mail.LetterTo(address, 0);
    *seen = "no mail";
    if (!question) return false;
    *seen = "a mail without a link: " + question->subject;
    for (const std::string& line : question->lines) {
      const std::size_t path = line.find("/mail-addresses/");
      if (path == std::string::npos) continue;
      link = line.substr(path);
      return true;
    }
    return false;
  });
  if (api_->Call("GET", link).status != 200) Fail("the link to confirm the address did not work");
  const Json channel = api_->Expect("GET", "/channels/" + TextAt(made, "id"));
  if (TextAt(channel, "status") != "active") {
    Fail(fmt::format("the channel was to be active, it is {}", TextAt(channel, "status")));
  }
  deps_.narrator.Observed("a channel for " + address + ", whose owner was asked and confirmed");
  return channel;
}

std::string DemoStory::MakeClockMonitor(const std::string& channel) {
  Json rows = Json::array();
  for (const DemoSite::Company& company : deps_.site.companies()) {
    rows.push_back(
        {{"company", company.name}, {"url", deps_.site_address + deps_.site.PathOf(company)}});
  }
  const Json made =
      api_->Expect("POST", "/monitors",
                   Json{{"name", "Companies at nine"},
                        {"key_columns", Json::array({"company"})},
                        {"rows", std::move(rows)},
                        {"struct", DemoSite::WatchedFields()},
                        {"schedule", {{"cron", "0 9 * * 1-5"}, {"time_zone", "Europe/Berlin"}}},
                        {"channel_ids", Json::array({channel})}});
  deps_.narrator.Observed(
      "a monitor on weekdays at 9:00 in Berlin, next at " +
      Text(api_->Expect("GET", "/monitors/" + TextAt(made, "id")).at("next_run_times").at(0)));
  // Nobody waits for nine.
  api_->Expect("POST", "/monitors/" + TextAt(made, "id") + "/trigger", Json::object());
  return TextAt(made, "id");
}

void DemoStory::TellMail() {
  BeginStep("Watched at nine in the morning, told by e-mail");
  const std::string address = fmt::format("reader-{}@{}", base::Uuid::V4().ToString().substr(0, 8),
                                          DemoMail::kReaderDomain);
  const std::string channel = TextAt(MakeMailChannel(address), "id");
  const std::string monitor = MakeClockMonitor(channel);
  DemoSite::Change change;
  MakeMonitorSeeChange(monitor, &change);
  std::optional<DemoMail::Letter> letter;
  WaitUntil("the mail", [&](std::string* seen) {
    letter = deps_.mail.LetterTo(address, 1);
    *seen = "the question alone";
    return letter.has_value();
  });
  const bool tells = std::any_of(letter->lines.begin(), letter->lines.end(), [&](const auto& line) {
    return line.find(change.to) != std::string::npos;
  });
  if (!tells) Fail("the mail does not say what changed: " + letter->subject);
  deps_.narrator.Observed("the mail arrived:");
  deps_.narrator.Note("From: " + letter->from);
  deps_.narrator.Note("Subject: " + letter->subject);
  for (const std::string& line : letter->lines) deps_.narrator.Note(line);
  // The next start makes its own.
  api_->Expect("POST", "/monitors/" + monitor + "/cancel", Json::object());
  api_->Expect("DELETE", "/channels/" + channel);
}

}  // namespace vedette::app
