// The demo's steps that ask: whose address it is, who is behind it, and how often values occur.
#include <fmt/format.h>

#include <utility>

#include "app/demo/demo_story.h"
#include "app/demo/json_text.h"
#include "base/uuid.h"

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

}  // namespace vedette::app
