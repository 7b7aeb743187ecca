#include "app/demo/demo_story.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "app/demo/demo_output.h"
#include "domain/money/money.h"
#include "domain/monitor/enums.h"

namespace vedette::app {
namespace {

using base::Json;
using std::chrono::steady_clock;

constexpr int kSteps = 12;
constexpr std::chrono::seconds kStepMax{30};
// The API admits 500 requests a minute for a key; the story stays well below.
constexpr std::chrono::milliseconds kAskEvery{250};
constexpr std::chrono::seconds kChangeEvery{20};
constexpr std::chrono::seconds kQuietMax{5};
constexpr int kVisitorsSecretHours = 24;
constexpr int kCredits = 10'000;
constexpr std::int64_t kTopUpBelowMc = 1'000'000;
constexpr std::string_view kPauseReason = "the demo shows a pause";

std::string Duration(std::chrono::seconds duration) {
  return fmt::format("{}s", duration.count());
}

std::int64_t MoneyAt(const Json& object, const char* key) {
  const auto mc = object.contains(key) ? domain::CreditsFromJson(object[key]) : std::nullopt;
  if (!mc) throw StepFailed(fmt::format("the organisation shows no '{}'", key));
  return *mc;
}

std::string Credits(std::int64_t mc) {
  return domain::FormatCredits(mc) + (mc == 1000 ? " credit" : " credits");
}

// The latest last_run_at; empty when no row was checked. The API's timestamps sort as text.
std::string LatestRun(const Json& rows) {
  std::string latest;
  for (const Json& row : rows) latest = std::max(latest, TextAt(row, "last_run_at"));
  return latest;
}

}  // namespace

DemoStory::DemoStory(DemoStoryDependencies deps)
    : deps_(std::move(deps)),
      admin_(deps_.http, deps_.admin, {"Authorization", "Bearer " + deps_.state.admin_token}),
      since_(base::FormatTimestamp(deps_.clock.Now())) {}

void DemoStory::BeginStep(const std::string& title) {
  ++step_;
  step_title_ = title;
  deps_.narrator.Step(step_, kSteps, title);
}

void DemoStory::Fail(const std::string& what) const {
  throw StepFailed(fmt::format("Step {}/{} ({}) failed: {}", step_, kSteps, step_title_, what));
}

void DemoStory::WaitUntil(const std::string& what, const Observe& observe) {
  const auto start = steady_clock::now();
  std::string seen = "nothing";
  for (;;) {
    try {
      if (observe(&seen)) return;
    } catch (const RequestFailed& error) {
      // Answers that pass (not ready yet, too many requests) are waited out; the last one is told.
      if (error.status() != 0 && error.status() != 429 && error.status() < 500) Fail(error.what());
      seen = error.what();
    }
    const auto waited = steady_clock::now() - start;
    if (waited > kStepMax) {
      Fail(fmt::format("waited {} s for {}; seen: {}.", kStepMax.count(), what, seen));
    }
    deps_.narrator.Waiting(what, std::chrono::duration_cast<std::chrono::seconds>(waited));
    if (deps_.signals.WaitFor(kAskEvery)) throw Interrupted();
  }
}

std::string DemoStory::MonitorPath(const std::string& rest) const {
  return "/monitors/" + deps_.state.monitor_id + rest;
}

DemoStory::Money DemoStory::ReadMoney() {
  const Json org = admin_.Expect("GET", "/admin/v1/orgs/" + deps_.state.org_id);
  return {MoneyAt(org, "balance"), MoneyAt(org, "reserved"), MoneyAt(org, "charged")};
}

Json DemoStory::ReadRows() {
  const Json page = api_->Expect("GET", MonitorPath("/rows"));
  for (const Json& row : page.at("rows")) {
    const std::string company = TextAt(row.at("subject"), "company");
    row_ids_[company] = TextAt(row, "id");
    companies_[TextAt(row, "id")] = company;
  }
  return page.at("rows");
}

// ---- 1: set-up

void DemoStory::SetUp() {
  BeginStep("An organisation and its monitor");
  DemoState& state = deps_.state;
  WaitUntil("the service to be ready", [this](std::string* seen) {
    const JsonClient::Answer answer = admin_.Call("GET", "/readyz");
    *seen = fmt::format("/readyz answered {}", answer.status);
    return answer.status == 200;
  });
  try {
    const bool former = FindOrganisation();
    if (!former) MakeOrganisation();
    deps_.receiver.SetSecret(state.signing_secret);
    LookAtMoney();
    if (!former || !FindMonitor()) MakeMonitor();
    if (former) RenewSecret();
    ReadRows();
  } catch (const RequestFailed& error) {
    Fail(error.what());
  } catch (const Json::exception& error) {
    Fail(fmt::format("an answer had not the expected shape: {}", error.what()));
  }
  deps_.narrator.Note(
      fmt::format("{} rows, fields {}, every {} s, {} a check", row_ids_.size(),
                  "employees (css), chief executive (xpath), starter plan (css attribute)",
                  deps_.frequency.count(), Credits(deps_.price_mc)));
}

// Whether the last run's organisation still serves the story. Whatever a visitor has done with it
// stays as it is: where it is locked, or its key revoked, the story has one of its own.
bool DemoStory::FindOrganisation() {
  const DemoState& state = deps_.state;
  if (state.api_key.empty()) return false;
  api_.emplace(deps_.http, deps_.api, std::make_pair("x-api-key", state.api_key));
  const JsonClient::Answer found = api_->Call("GET", "/monitors?limit=1");
  if (found.status == 401 || found.status == 403) {
    deps_.narrator.Note(
        "the organisation of the last run cannot be used any more, another is made");
    return false;
  }
  if (found.status != 200) Fail(fmt::format("GET /monitors was answered {}", found.status));
  if (ReadMoney().balance_mc < kTopUpBelowMc) {
    admin_.Expect("POST", "/admin/v1/orgs/" + state.org_id + "/credits",
                  Json{{"amount", kCredits}, {"reason", "vedette demo"}});
    deps_.narrator.Observed(fmt::format("{} credits given, the balance was low", kCredits));
  }
  return true;
}

// With nothing reserved, what is told adds up at sight. What a visitor has under way is not waited
// for: the sums hold beside it, too.
void DemoStory::LookAtMoney() {
  const auto start = steady_clock::now();
  WaitUntil("no check to be in flight", [&](std::string* seen) {
    before_ = ReadMoney();
    *seen = fmt::format("{} reserved", Credits(before_.reserved_mc));
    return before_.reserved_mc == 0 || steady_clock::now() - start > kQuietMax;
  });
  if (before_.reserved_mc == 0) return;
  money_is_quiet_ = false;
  deps_.narrator.Note(fmt::format("{} are reserved for what else is under way; it goes on beside",
                                  Credits(before_.reserved_mc)));
}

// Whether the last run's monitor is as it was made, in which case it goes on at the story's pace.
// One that a visitor has paused, cancelled or changed is theirs, and stays as it is.
bool DemoStory::FindMonitor() {
  if (deps_.state.monitor_id.empty()) return false;
  const JsonClient::Answer found = api_->Call("GET", MonitorPath());
  const auto rows = deps_.site.companies().size();
  const bool as_made = found.status == 200 && TextAt(found.body, "status") == "active" &&
                       found.body.at("row_count") == rows &&
                       found.body.at("active_row_count") == rows &&
                       found.body.at("confirm_after") == 1;
  if (!as_made && !deps_.site_moved) {
    deps_.narrator.Note("the monitor of the last run was changed meanwhile, another is made");
  }
  if (!as_made || deps_.site_moved) return false;
  api_->Expect("POST", MonitorPath("/update"),
               Json{{"frequency", Duration(deps_.frequency)},
                    {"webhook_url", deps_.receiver_address + DemoReceiver::kPath}});
  deps_.narrator.Observed("continuing with the organisation and monitor of the last run");
  return true;
}

// The receiver needs a signing secret that it knows where a visitor has rotated it away. The
// visitor's stays good beside it.
void DemoStory::RenewSecret() {
  const std::uint64_t before = deps_.receiver.received_total();
  api_->Expect("POST", MonitorPath("/webhook/test"), Json::object());
  for (const DemoReceiver::Received& received : deps_.receiver.Since(before)) {
    if (received.check == domain::SignatureCheck::kValid) return;
  }
  RotateSecret(kVisitorsSecretHours);
  deps_.receiver.SetSecret(deps_.state.signing_secret);
}

void DemoStory::RotateSecret(int overlap_hours) {
  const Json secret =
      admin_.Expect("POST", "/admin/v1/orgs/" + deps_.state.org_id + "/signing-secrets/rotate",
                    Json{{"overlap_hours", overlap_hours}});
  deps_.state.signing_secret = secret.at("secret").get<std::string>();
  deps_.narrator.Observed("a signing secret for its webhooks");
}

void DemoStory::MakeOrganisation() {
  DemoState& state = deps_.state;
  state.monitor_id.clear();
  const Json org = admin_.Expect("POST", "/admin/v1/orgs",
                                 Json{{"name", "Demo"},
                                      {"features",
                                       {domain::kFeatureMonitors, domain::kFeatureTestingMonitors,
                                        domain::kFeatureHighTier}}});
  state.org_id = org.at("id").get<std::string>();
  const std::string path = "/admin/v1/orgs/" + state.org_id;
  const Json credits = admin_.Expect("POST", path + "/credits",
                                     Json{{"amount", kCredits}, {"reason", "vedette demo"}});
  deps_.narrator.Observed(
      fmt::format("organisation 'Demo' with {} credits", Text(credits.at("balance"))));
  RotateSecret(0);
  const Json key = admin_.Expect("POST", path + "/api-keys", Json{{"name", "demo"}});
  state.api_key = key.at("key").get<std::string>();
  deps_.narrator.Observed("an API key");
  api_.emplace(deps_.http, deps_.api, std::make_pair("x-api-key", state.api_key));
}

void DemoStory::MakeMonitor() {
  Json rows = Json::array();
  for (const DemoSite::Company& company : deps_.site.companies()) {
    rows.push_back(
        {{"company", company.name}, {"url", deps_.site_address + deps_.site.PathOf(company)}});
  }
  const std::string former = deps_.state.monitor_id;
  const Json made = api_->Expect(
      "POST", "/monitors",
      Json{{"name", "Demo companies"},
           {"key_columns", Json::array({"company"})},
           {"rows", std::move(rows)},
           {"struct", DemoSite::WatchedFields()},
           {"frequency", Duration(deps_.frequency)},
           {"webhook_url", deps_.receiver_address + DemoReceiver::kPath},
           {"webhook_event_types",
            Json::array({domain::NotificationTypeName(domain::NotificationType::kChanged)})},
           {"metadata", {{"from", "vedette demo"}}}});
  deps_.state.monitor_id = made.at("id").get<std::string>();
  deps_.save_state();
  deps_.narrator.Observed(
      fmt::format("monitor {}, made by POST /monitors", deps_.state.monitor_id));
  if (!former.empty() && deps_.site_moved) {
    api_->Call("POST", "/monitors/" + former + "/cancel", Json::object());
    deps_.narrator.Note("the former monitor is cancelled: its pages' port was taken");
  }
}

// ---- 2 to 12: the story; lookups, counts, the workflow and the mail are in demo_chapters.cc

const std::vector<DemoStory::Chapter>& DemoStory::Chapters() {
  static const std::vector<Chapter> kChapters = {
      {"checks", "", &DemoStory::TellRowsChecked},
      {"change", "checks", &DemoStory::TellFieldChanged},
      {"webhook", "change", &DemoStory::TellWebhook},
      {"cost", "checks", &DemoStory::TellBalance},
      {"pause", "", &DemoStory::TellPause},
      {"resume", "pause", &DemoStory::TellResume},
      {"addresses", "", &DemoStory::TellAddresses},
      {"person", "addresses", &DemoStory::TellPerson},
      {"workflow", "", &DemoStory::TellWorkflow},
      {"search", "", &DemoStory::TellCounts},
      {"mail", "", &DemoStory::TellMail},
  };
  return kChapters;
}

std::vector<std::string> DemoStory::ChapterNames() {
  std::vector<std::string> names = {"monitor"};
  for (const Chapter& chapter : Chapters()) names.emplace_back(chapter.name);
  return names;
}

bool DemoStory::IsTold(std::string_view chapter) const {
  if (deps_.only.empty()) return true;
  // The chapters that the one asked for needs, back to the one that needs no other.
  std::string_view told = deps_.only;
  while (!told.empty()) {
    if (told == chapter) return true;
    const auto found = std::find_if(Chapters().begin(), Chapters().end(),
                                    [told](const Chapter& one) { return one.name == told; });
    told = found == Chapters().end() ? std::string_view() : found->after;
  }
  return false;
}

void DemoStory::Tell() {
  try {
    for (const Chapter& chapter : Chapters()) {
      if (IsTold(chapter.name)) {
        (this->*chapter.tell)();
      } else {
        ++step_;  // a chapter keeps its number
      }
    }
  } catch (const RequestFailed& error) {
    Fail(error.what());
  } catch (const Json::exception& error) {
    Fail(fmt::format("an answer had not the expected shape: {}", error.what()));
  }
}

void DemoStory::TellRowsChecked() {
  BeginStep("Its rows are checked");
  Json rows;
  WaitUntil("every row to be checked", [&](std::string* seen) {
    rows = ReadRows();
    const auto checked = std::count_if(rows.begin(), rows.end(), [this](const Json& row) {
      return TextAt(row, "last_run_at") >= since_;
    });
    *seen = fmt::format("{} of {} rows checked", checked, rows.size());
    return !rows.empty() && checked == static_cast<std::ptrdiff_t>(rows.size());
  });
  for (const DemoSite::Company& company : deps_.site.companies()) {
    deps_.narrator.Observed(fmt::format("{}: {} employees, {}, {} euros a month", company.name,
                                        company.employees, company.chief, company.price));
  }
  // The pages' content is ours; that the checks saw it, the first observations show.
  const Json watched = DemoSite::WatchedFields();
  for (const Json& row : rows) {
    for (const auto& [field, description] : watched.items()) {
      if (TextAt(row.at("baseline"), field.c_str()).empty()) {
        Fail(fmt::format("the row '{}' has no first observation of '{}'",
                         TextAt(row.at("subject"), "company"), field));
      }
    }
  }
  TellScriptedPage();
}

// A browser is no part of what the demo needs: one that does not start, as in a container without
// user namespaces, or that is slow to, is told, and the story goes on.
void DemoStory::TellScriptedPage() {
  if (!deps_.rendering_lack.empty()) {
    deps_.narrator.Note(
        "a page made by scripts is not looked at, which takes a browser: apt install chromium");
    return;
  }
  std::string instead;
  try {
    const Json seen =
        api_->Expect("POST", "/monitors/preview",
                     Json{{"key_columns", {"url"}},
                          {"rows", {{{"url", deps_.site_address + DemoSite::kScriptedPath}}}},
                          {"struct", {{"seats", "css:#seats"}}}});
    const Json& row = seen.at("rows").at(0);
    if (row.value(Json::json_pointer("/observed/seats/value"), Json()) == DemoSite::kSeats) {
      deps_.narrator.Observed(fmt::format(
          "a page made by scripts, rendered for a preview: {} seats are left", DemoSite::kSeats));
      return;
    }
    instead = base::DumpJson(row);
  } catch (const RequestFailed& error) {
    instead = error.what();
  }
  deps_.narrator.Note("a page made by scripts could not be rendered: " + instead);
}

DemoSite::Change DemoStory::ChangeSite() {
  const DemoSite::Change change = deps_.site.MakeChange(deps_.state.changes++);
  deps_.save_state();
  return change;
}

void DemoStory::TellFieldChanged() {
  BeginStep("A page changes");
  const std::string changed_at = base::FormatTimestamp(deps_.clock.Now());
  const DemoSite::Change change = ChangeSite();
  deps_.narrator.Note(
      fmt::format("the site now says {} for {} of {}", change.to, change.field, change.company));
  change_row_ = row_ids_[change.company];
  WaitUntil("the change to be found", [&](std::string* seen) {
    const Json events = api_->Expect("GET", MonitorPath("/rows/" + change_row_ + "/events"));
    for (const Json& event : events) {
      if (TextAt(event, "created_at") < changed_at) break;  // newest first
      *seen =
          fmt::format("an event '{}' {}", TextAt(event, "event_type"), TextAt(event, "message"));
      if (TextAt(event, "event_type") == "change" && TextAt(event, "field") == change.field) {
        change_event_ = event;
        return true;
      }
    }
    return false;
  });
  const std::string from = TextAt(change_event_, "previous_value");
  const std::string to = TextAt(change_event_, "current_value");
  if (from != change.from || to != change.to) {
    Fail(fmt::format("the page went from '{}' to '{}', the event says from '{}' to '{}'",
                     change.from, change.to, from, to));
  }
  const Json& sources = change_event_.at("sources");
  if (!sources.is_array() || sources.empty()) Fail("the change event names no source");
  deps_.narrator.Observed(
      fmt::format("{}: {} changed from {} to {}", change.company, change.field, from, to));
  deps_.narrator.Note(fmt::format("source {}", Text(sources[0])));
}

void DemoStory::TellWebhook() {
  BeginStep("The receiver is told");
  const std::string_view type = domain::NotificationTypeName(domain::NotificationType::kChanged);
  const std::string group = TextAt(change_event_, "event_group_id");
  std::optional<DemoReceiver::Received> received;
  WaitUntil("the webhook", [&](std::string* seen) {
    received = deps_.receiver.Find(type, group);
    if (!received) {
      *seen = fmt::format("{} other webhooks", deps_.receiver.received_total());
      return false;
    }
    *seen = fmt::format("attempt {} refused by the receiver", received->attempt);
    if (!received->refused) return true;
    if (received->attempt != "1") Fail(*seen + "; the delivery stays pending and is retried");
    return false;
  });
  if (received->check != domain::SignatureCheck::kValid) {
    Fail(fmt::format("the webhook arrived, but the receiver could not verify its signature: {}",
                     domain::SignatureCheckMessage(received->check)));
  }
  // The notification's monitor_id is the row's id (docs/webhooks.md).
  if (!received->body.is_object() || TextAt(received->body, "monitor_id") != change_row_) {
    Fail(
        fmt::format("the webhook's body is not about the row: {}", base::DumpJson(received->body)));
  }
  deps_.narrator.Observed(fmt::format("{} arrived, its signature verified", type));
  deps_.narrator.Note(base::DumpJson(received->body));
}

// Whether nothing but the story's monitor is charged to its organisation.
bool DemoStory::IsAlone() {
  if (!money_is_quiet_) return false;
  return api_->Expect("GET", "/monitors?status=active&limit=2").at("monitors").size() == 1;
}

void DemoStory::TellBalance() {
  BeginStep("What it cost");
  Money after{};
  WaitUntil("a charge", [&](std::string* seen) {
    after = ReadMoney();
    *seen = fmt::format(
        "balance {}, reserved {}, charged {}", domain::FormatCredits(after.balance_mc),
        domain::FormatCredits(after.reserved_mc), domain::FormatCredits(after.charged_mc));
    return (after.reserved_mc == 0 || !money_is_quiet_) &&
           (after.charged_mc > before_.charged_mc || deps_.price_mc == 0);
  });
  if (after.total_mc() != before_.total_mc()) {
    Fail(fmt::format("balance + reserved + charged was {} and is {}",
                     domain::FormatCredits(before_.total_mc()),
                     domain::FormatCredits(after.total_mc())));
  }
  const std::int64_t charged = after.charged_mc - before_.charged_mc;
  deps_.narrator.Observed(fmt::format("balance before {}, now {}: {} charged",
                                      Credits(before_.balance_mc), Credits(after.balance_mc),
                                      Credits(charged)));
  if (deps_.price_mc > 0 && IsAlone()) {
    if (charged % deps_.price_mc != 0) Fail("the charge is no whole number of checks");
    deps_.narrator.Note(fmt::format("{} completed checks at {}; nothing else is charged",
                                    charged / deps_.price_mc, Credits(deps_.price_mc)));
  }
}

void DemoStory::TellPause() {
  BeginStep("Paused by the operator");
  const Json paused =
      admin_.Expect("POST", "/admin/v1" + MonitorPath("/pause"), Json{{"reason", kPauseReason}});
  if (TextAt(paused, "status") != "paused") {
    Fail(fmt::format("the pause was answered with status '{}'", TextAt(paused, "status")));
  }
  deps_.narrator.Observed("paused through the admin port");
  const JsonClient::Answer trigger = api_->Call("POST", MonitorPath("/trigger"), Json::object());
  if (trigger.status != 409) {
    Fail(fmt::format("a trigger was answered {} instead of 409", trigger.status));
  }
  deps_.narrator.Observed("POST /monitors/{id}/trigger is answered 409");

  // Two schedule slots pass without a check. Checks in flight may finish (G5).
  const std::chrono::seconds quiet = 2 * deps_.frequency + std::chrono::seconds(1);
  std::string latest = LatestRun(ReadRows());
  auto since = steady_clock::now();
  WaitUntil(fmt::format("{} s without a check", quiet.count()), [&](std::string* seen) {
    const std::string now = LatestRun(ReadRows());
    *seen = fmt::format("a check at {}", now);
    if (now != latest) {
      latest = now;
      since = steady_clock::now();
    }
    return steady_clock::now() - since >= quiet;
  });
  deps_.narrator.Observed(fmt::format("no check for {} s, where two were due", quiet.count()));
}

void DemoStory::TellResume() {
  BeginStep("Resumed by the customer");
  const std::string resumed_at = base::FormatTimestamp(deps_.clock.Now());
  const Json resumed = api_->Expect("POST", MonitorPath("/update"), Json{{"is_active", true}});
  if (TextAt(resumed, "status") != "active") {
    Fail(fmt::format("the resume was answered with status '{}'", TextAt(resumed, "status")));
  }
  deps_.narrator.Observed("resumed through the public API");
  const JsonClient::Answer trigger = api_->Call("POST", MonitorPath("/trigger"), Json::object());
  if (trigger.status != 202) {
    Fail(fmt::format("a trigger was answered {} instead of 202", trigger.status));
  }
  deps_.narrator.Observed("POST /monitors/{id}/trigger is answered 202");
  WaitUntil("a check after the resume", [&](std::string* seen) {
    const std::string latest = LatestRun(ReadRows());
    *seen = fmt::format("the last check at {}, the resume at {}", latest, resumed_at);
    return latest >= resumed_at;
  });
  deps_.narrator.Observed("checked again");
}

// ---- after the story

void DemoStory::TellReceived(const DemoReceiver::Received& received) {
  const std::string row = TextAt(received.body, "monitor_id");
  const std::string verdict = received.refused ? "refused by the receiver"
                              : received.check == domain::SignatureCheck::kValid
                                  ? "webhook verified"
                                  : "webhook with a wrong signature";
  const Json events = api_->Expect(
      "GET", MonitorPath("/rows/" + row + "/events?event_group_id=" + received.event_group_id));
  for (const Json& event : events) {
    if (TextAt(event, "event_type") != "change") continue;
    deps_.narrator.Observed(fmt::format("{}: {} changed from {} to {} ({})", companies_[row],
                                        TextAt(event, "field"), TextAt(event, "previous_value"),
                                        TextAt(event, "current_value"), verdict));
  }
}

void DemoStory::StayUp(const std::function<bool()>& failed) {
  if (!api_ || deps_.state.monitor_id.empty()) {  // the story broke off before it had them
    while (!deps_.signals.WaitFor(kAskEvery) && !failed()) {
    }
    return;
  }
  api_->Call("POST", MonitorPath("/update"), Json{{"frequency", Duration(deps_.frequency_idle)}});
  std::uint64_t told = deps_.receiver.received_total();
  auto change_at = steady_clock::now() + kChangeEvery;
  while (!deps_.signals.WaitFor(kAskEvery) && !failed()) {
    if (steady_clock::now() >= change_at) {
      ChangeSite();
      change_at += kChangeEvery;
    }
    for (const DemoReceiver::Received& received : deps_.receiver.Since(told)) {
      told = received.number;
      try {
        TellReceived(received);
      } catch (const std::exception& error) {
        deps_.narrator.Note(error.what());
      }
    }
  }
}

}  // namespace vedette::app
