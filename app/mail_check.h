#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/json_text.h"
#include "config/config_fwd.h"

// Whether mail servers will talk to this machine, with its configuration, and what to do where they
// will not.
namespace vedette::app {

enum class MailHealth : std::uint8_t { kOk, kWarn, kFail };
std::string_view MailHealthName(MailHealth health);  // "ok", "warn", "fail"

struct MailCheck {
  std::string name;  // bounded: what is checked, and names of the configuration
  MailHealth health = MailHealth::kOk;
  std::string message;  // what was seen, and what to do about it
};

// [{"check", "status", "message"}]
base::Json MailChecksJson(const std::vector<MailCheck>& checks);

// One examination, on whatever thread runs it.
class MailExamination {
 public:
  virtual ~MailExamination() = default;

  // Blocks until everything was looked at, or Stop was called; then what was looked at. Once.
  virtual std::vector<MailCheck> Run() = 0;
  // Makes Run return soon. Any thread.
  virtual void Stop() = 0;
};

// Checks that have not begun after this time are left out, and a check "time" says so.
inline constexpr std::chrono::minutes kMailExaminationMax{10};

// Asks the DNS, the mail servers of [email.smtp] doctor_domains for their banner, and doctor_lists
// for the outgoing address. What is handed in must outlive it.
std::unique_ptr<MailExamination> ExamineMail(const config::Config& config,
                                             const base::Clock& clock);

}  // namespace vedette::app
