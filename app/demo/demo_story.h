#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "app/demo/demo_mail.h"
#include "app/demo/demo_output.h"
#include "app/demo/demo_servers.h"
#include "app/json_client.h"
#include "app/process.h"
#include "base/clock.h"

namespace vedette::app {

// A step of the story was not observed: which, and what was seen instead. A sentence.
class StepFailed : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A stop was asked for in the middle of the story.
class Interrupted : public std::runtime_error {
 public:
  Interrupted() : std::runtime_error("interrupted") {}
};

struct DemoStoryDependencies {
  BlockingHttp& http;
  DemoSite& site;
  DemoReceiver& receiver;
  const DemoMail& mail;
  DemoState& state;
  std::function<void()> save_state;
  Narrator& narrator;
  const StopSignals& signals;
  const base::Clock& clock;
  // The URLs of the four servers: "http://127.0.0.1:8080".
  std::string api;
  std::string admin;
  std::string site_address;
  std::string receiver_address;
  std::chrono::seconds frequency;       // of the monitor during the story
  std::chrono::seconds frequency_idle;  // and afterwards
  std::int64_t price_mc;                // of one check
  bool site_moved;                      // the monitor's rows name addresses that are gone
  std::string rendering_lack;           // why no page is rendered (RenderingLack); may be empty
  std::string only;                     // one of DemoStory::ChapterNames(); empty: all of them
};

// The demo's story, driven through the public API and the admin port alone. Each step waits until
// what it tells was observed, at most 30 s; a step that was not is a StepFailed. Main thread.
class DemoStory {
 public:
  explicit DemoStory(DemoStoryDependencies deps);

  // Makes the organisation, credits, secret, key and monitor, or finds those of the last run. What
  // a visitor has changed since then stays theirs, and the story makes its own beside it.
  void SetUp();
  // The chapters after the set-up: all of them, or the one that `only` names and those that it goes
  // on from.
  void Tell();
  // What `only` may name. The first is the set-up, which every story begins with.
  static std::vector<std::string> ChapterNames();
  // Changes the site now and then and tells what comes of it, until a stop is asked for or
  // `failed` returns true; also where the story broke off.
  void StayUp(const std::function<bool()>& failed);

 private:
  // What the story needs of GET /admin/v1/orgs/{id}.
  struct Money {
    std::int64_t balance_mc;
    std::int64_t reserved_mc;
    std::int64_t charged_mc;
    std::int64_t total_mc() const { return balance_mc + reserved_mc + charged_mc; }
  };
  using Observe = std::function<bool(std::string* seen)>;
  struct Chapter {
    std::string_view name;
    std::string_view after;  // the chapter that it goes on from; empty: from the set-up
    void (DemoStory::*tell)();
  };

  // In the order of the story, which is that of their numbers.
  static const std::vector<Chapter>& Chapters();
  // Whether it is told: by its name, or because what is told goes on from it.
  bool IsTold(std::string_view chapter) const;

  void BeginStep(const std::string& title);
  void WaitUntil(const std::string& what, const Observe& observe);
  [[noreturn]] void Fail(const std::string& what) const;

  bool FindOrganisation();
  void MakeOrganisation();
  void RotateSecret(int overlap_hours);
  void RenewSecret();
  void LookAtMoney();
  bool FindMonitor();
  void MakeMonitor();

  void TellRowsChecked();
  void TellScriptedPage();
  void TellFieldChanged();
  void TellWebhook();
  bool IsAlone();
  void TellBalance();
  void TellPause();
  void TellResume();
  // Lookups, and values that are counted (demo_chapters.cc, as all that follows).
  void TellAddresses();
  void TellPerson();
  void TellCounts();
  void ImportCompanies();
  void TellWorkflow();
  // The steps of the workflow chapter.
  std::string LeadsCsv() const;
  std::string RunToItsEnd(const std::string& workflow);
  void TellFileOf(const std::string& run);
  std::string MonitorOfRun(const std::string& run);
  void TellChangeOf(const std::string& monitor);
  // Has the site change once the monitor's rows were checked, and the monitor check them; the
  // event.
  base::Json MakeMonitorSeeChange(const std::string& monitor, DemoSite::Change* change);
  // The steps of the mail chapter.
  void TellMail();
  base::Json MakeMailChannel(const std::string& address);
  std::string MakeClockMonitor(const std::string& channel);

  DemoSite::Change ChangeSite();
  void TellReceived(const DemoReceiver::Received& received);
  Money ReadMoney();
  base::Json ReadRows();
  std::string MonitorPath(const std::string& rest = "") const;

  DemoStoryDependencies deps_;
  JsonClient admin_;
  std::optional<JsonClient> api_;
  int step_ = 0;
  std::string step_title_;
  std::string since_;                             // when the story began, as the API writes it
  std::map<std::string, std::string> row_ids_;    // by company
  std::map<std::string, std::string> companies_;  // by row id
  Money before_{};
  bool money_is_quiet_ = true;  // nothing was reserved when the story began
  base::Json change_event_;     // of TellFieldChanged
  std::string change_row_;
};

}  // namespace vedette::app
