#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_text.h"
#include "domain/monitor/page_steps.h"

// What a monitor says of how its pages are read, its member `probe`: {"render": "auto", "wait_for":
// "#price"}; and what is done on them before (domain/monitor/page_steps.h). Pure.
namespace vedette::domain {

struct ValidationFault;  // domain/text/json_schema.h

// Which pages have their scripts run (docs/probes.md); a later one runs more.
enum class Render { kNever, kAuto, kAlways };
std::string_view RenderName(Render render);
std::optional<Render> ParseRender(std::string_view name);

// What does not count of a page's text, its member `ignore`: ["numbers", "dates",
// {"regex": "[0-9]+ people"}, {"selector": ".ad"}]. A description `text` observes what is left.
struct IgnoreRules {
  // RE2's, the customer's own before those of dates and numbers: the first that matches is taken.
  std::vector<std::string> patterns;
  std::vector<std::string> selectors;  // CSS: elements that are left out

  bool any() const { return !patterns.empty() || !selectors.empty(); }
};
inline constexpr std::size_t kIgnoreRulesMax = 16;

struct ProbeOptions {
  std::optional<Render> render;  // at most what the tier allows; empty: what it says
  std::string wait_for;  // a CSS selector: a rendered page is read when it matches. Empty: none
  std::vector<PageStep> steps;
  bool keeps_session = false;  // the cookies of one page are set before the next
  IgnoreRules ignore{};

  // Whether pages are acted on, and nothing else will do.
  bool Acts() const { return !steps.empty() || keeps_session; }
  // Whether there is something of its pages that is kept sealed.
  bool NeedsLogin() const;
};

// What is wrong with `options`, which stands at `loc`. No fault repeats the value of a secret.
std::vector<ValidationFault> ValidateProbeOptions(const base::Json& loc, base::Json options);

// Reads options that were validated.
ProbeOptions ReadProbeOptions(const base::Json& options);
// Takes the values of secrets out of options that were validated, which then say null in the place
// of each.
ProbeSecrets TakeSecrets(base::Json* options);
// The secrets in whose place options say null: they are to be those that are kept.
std::vector<std::string> SecretsToKeep(const base::Json& options);
// The same as ReadProbeOptions of what is stored; empty: none.
ProbeOptions ParseProbeOptions(const std::optional<std::string>& json);

// What a monitor's pages get in a tier that says `tier`: nobody gets more than it allows.
Render RenderIn(Render tier, const ProbeOptions& options);

}  // namespace vedette::domain
