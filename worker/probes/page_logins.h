#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "base/uuid.h"
#include "domain/monitor/page_steps.h"
#include "lease/live.h"
#include "net/browser/page_cookies.h"
#include "worker/probes/probe.h"

// What pages of a monitor are acted on with: secrets that its steps type, and the session that the
// page before has left.
namespace vedette::worker {

// Keeps both. Built by app from store/, which probes do not include. Loop thread only.
class LoginKeeper {
 public:
  struct Login {
    // Each change of the monitor's steps and secrets makes another one.
    base::Uuid version;
    std::optional<domain::ProbeSecrets> secrets;  // empty: there are some, and no key opens them
    std::string session;                          // a text of ours; empty: none is kept
  };
  virtual ~LoginKeeper() = default;
  // Those of a monitor; empty where they cannot be had now. Later.
  virtual void Read(const base::Uuid& org_id, const base::Uuid& monitor_id,
                    std::function<void(std::optional<Login>)> done) = 0;
  // Keeps a session, unless the monitor's version is another one by now. `done` later, whatever
  // came of it.
  virtual void Keep(const base::Uuid& org_id, const base::Uuid& monitor_id,
                    const base::Uuid& version, std::string session, std::function<void()> done) = 0;
};

// What one page is acted on with.
struct PageLogin {
  base::Uuid version;                   // nil: nothing is kept of it
  std::vector<domain::PageStep> steps;  // with the values of their secrets
  std::vector<net::PageCookie> cookies;
  bool leads = false;  // others of the monitor wait for how it ends
};

// Hands logins to pages. Where no session is known yet, one page of a monitor goes before the
// others, so that these need not log in themselves:
//
//   none is known ── the first who asks leads ──▶ the others wait ── it ends ──▶ all of them go on;
//   or, where a step of it failed, fail like it: one account is not tried for each row
//
// Loop thread only.
class PageLogins {
 public:
  explicit PageLogins(LoginKeeper* keeper) : keeper_(keeper) {}  // null: no monitor has any

  using Given = std::variant<PageLogin, ProbeFailure>;
  // `done` once, perhaps from inside. Each login that was given is given back by End. A failure is
  // unreadable_secrets, overloaded, or the leading page's step_failed.
  void Ask(const base::Uuid& org_id, std::shared_ptr<const ProbeSpec> spec,
           std::function<void(Given)> done);

  // The page has ended: `cookies` that it has left, where it was read, and why it failed.
  void End(const base::Uuid& org_id, const ProbeSpec& spec, const PageLogin& login,
           const std::optional<std::vector<net::PageCookie>>& cookies, const ProbeFailure* failure);

 private:
  using Waiting = std::function<void(const ProbeFailure* failure)>;  // of the page that led

  void Read(const base::Uuid& org_id, const std::shared_ptr<const ProbeSpec>& spec, bool may_lead,
            std::function<void(Given)> done);
  Given Made(const ProbeSpec& spec, const LoginKeeper::Login& kept) const;
  void LetGo(const base::Uuid& monitor_id, const ProbeFailure* failure);

  LoginKeeper* const keeper_;
  // By the monitor whose page leads.
  std::unordered_map<base::Uuid, std::deque<Waiting>> waiting_;
  lease::Live live_;
};

}  // namespace vedette::worker
