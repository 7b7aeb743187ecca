#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_text.h"

// What a monitor says of how its pages are read, its member `probe`: {"render": "auto", "wait_for":
// "#price"}. Pure.
namespace vedette::domain {

struct ValidationFault;  // domain/text/json_schema.h

// Which pages have their scripts run (docs/probes.md); a later one runs more.
enum class Render { kNever, kAuto, kAlways };
std::string_view RenderName(Render render);
std::optional<Render> ParseRender(std::string_view name);

inline constexpr std::size_t kWaitForCharsMax = 500;

struct ProbeOptions {
  std::optional<Render> render;  // at most what the tier allows; empty: what it says
  std::string wait_for;  // a CSS selector: a rendered page is read when it matches. Empty: none
};

// What is wrong with `options`, which stands at `loc`.
std::vector<ValidationFault> ValidateProbeOptions(const base::Json& loc, base::Json options);

// Reads options that were validated.
ProbeOptions ReadProbeOptions(const base::Json& options);
// The same of what is stored; empty: none.
ProbeOptions ParseProbeOptions(const std::optional<std::string>& json);

// What a monitor's pages get in a tier that says `tier`: nobody gets more than it allows.
Render RenderIn(Render tier, const ProbeOptions& options);

}  // namespace vedette::domain
