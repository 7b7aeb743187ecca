#include "app/mail_watch.h"

#include <algorithm>
#include <exception>
#include <utility>

namespace vedette::app {
namespace {

double ValueOf(MailHealth health) {
  constexpr double kWarning = 0.5;
  if (health == MailHealth::kWarn) return kWarning;
  return health == MailHealth::kOk ? 1 : 0;
}

// An examination that fails says so, and ends nothing but itself.
std::vector<MailCheck> RunToItsEnd(MailExamination& examination) {
  try {
    return examination.Run();
  } catch (const std::exception& error) {
    return {{"examination", MailHealth::kWarn, std::string("It ended early: ") + error.what()}};
  }
}

}  // namespace

MailWatch::MailWatch(base::EventLoop& loop, metrics::Metrics& metrics, base::Logger log,
                     Begin begin, std::chrono::milliseconds every)
    : loop_(loop),
      metrics_(metrics),
      log_(log),
      begin_(std::move(begin)),
      every_(every),
      timer_(loop, [this] { Examine(); }) {}

MailWatch::~MailWatch() {
  if (examination_) examination_->Stop();
  if (thread_.joinable()) thread_.join();
}

void MailWatch::Start() {
  timer_.Start(std::chrono::milliseconds(0), every_);
}

void MailWatch::Examine() {
  if (examination_) return;
  examination_ = begin_();
  // The thread touches nothing of this object: its last act is to hand over what it has seen.
  thread_ = std::thread([&loop = loop_, examination = examination_.get(),
                         note = live_.Guard([this](const std::vector<MailCheck>& checks) {
                           Note(checks);
                         })]() mutable {
    auto checks = RunToItsEnd(*examination);
    loop.Post([note = std::move(note), checks = std::move(checks)]() mutable { note(checks); });
  });
}

void MailWatch::Note(const std::vector<MailCheck>& checks) {
  thread_.join();
  examination_.reset();
  std::set<std::string> now;
  MailHealth worst = MailHealth::kOk;
  std::string failing;
  for (const MailCheck& check : checks) {
    now.insert(check.name);
    metrics_.SetEmailDoctor(check.name, ValueOf(check.health));
    worst = std::max(worst, check.health);
    if (check.health != MailHealth::kOk) failing += (failing.empty() ? "" : ", ") + check.name;
  }
  // What was not looked at this time is neither well nor ill.
  for (const std::string& name : shown_) {
    if (!now.contains(name)) metrics_.SetEmailDoctor(name, ValueOf(MailHealth::kWarn));
  }
  shown_.merge(now);
  seen_ = base::DumpJson(MailChecksJson(checks));
  if (std::exchange(worst_, worst) == worst) return;
  if (worst == MailHealth::kOk) {
    log_.Info("mail servers will talk to this machine");
  } else {
    log_.Warn("mail servers may not talk to this machine; see `vedette ctl email doctor`",
              {{"checks", failing}});
  }
}

}  // namespace vedette::app
