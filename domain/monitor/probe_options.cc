#include "domain/monitor/probe_options.h"

#include <algorithm>
#include <array>

#include "base/json.h"
#include "domain/text/json_schema.h"

namespace vedette::domain {
namespace {

using base::Json;

constexpr std::array<std::string_view, 3> kRenderNames{"never", "auto", "always"};

const Json& Schema() {
  static const Json kSchema{
      {"type", "object"},
      {"additionalProperties", false},
      {"properties",
       {{"render", {{"type", "string"}, {"enum", {"never", "auto", "always"}}}},
        {"wait_for", {{"type", "string"}, {"minLength", 1}, {"maxLength", kWaitForCharsMax}}}}}};
  return kSchema;
}

}  // namespace

std::string_view RenderName(Render render) {
  return kRenderNames[static_cast<std::size_t>(render)];
}

std::optional<Render> ParseRender(std::string_view name) {
  const auto* const at = std::find(kRenderNames.begin(), kRenderNames.end(), name);
  if (at == kRenderNames.end()) return std::nullopt;
  return static_cast<Render>(at - kRenderNames.begin());
}

ValidationFaults ValidateProbeOptions(const Json& loc, Json options) {
  ValidationFaults faults;
  ApplySchema(Schema(), loc, &options, &faults);
  return faults;
}

ProbeOptions ReadProbeOptions(const Json& options) {
  ProbeOptions read;
  if (const auto it = options.find("render"); it != options.end()) {
    read.render = ParseRender(it->get_ref<const std::string&>());
  }
  if (const auto it = options.find("wait_for"); it != options.end()) {
    read.wait_for = it->get<std::string>();
  }
  return read;
}

ProbeOptions ParseProbeOptions(const std::optional<std::string>& json) {
  return json ? ReadProbeOptions(base::ParseJsonOrThrow(*json)) : ProbeOptions();
}

Render RenderIn(Render tier, const ProbeOptions& options) {
  return options.render ? std::min(*options.render, tier) : tier;
}

}  // namespace vedette::domain
