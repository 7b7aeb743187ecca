// A frequency that is accepted lies within the bounds.
#include <cstdlib>
#include <string>

#include "api/tenant/monitors/monitor_body.h"
#include "config/limits_config.h"
#include "domain/text/limits.h"
#include "tests/fuzz/target.h"

namespace vedette {

FUZZ_TARGET(frequency, bytes) {
  const std::string text(bytes);
  for (const bool configured : {false, true}) {
    config::LimitsConfig limits{};
    if (configured) limits.frequency_min = std::chrono::seconds(2);
    try {
      const api::Frequency frequency = api::ReadFrequency(text, limits);
      const auto min = configured ? std::chrono::seconds(2) : domain::kFrequencyMin;
      const bool testing = frequency.needs_testing && text == "5m";
      if (frequency.period > domain::kFrequencyMax) std::abort();
      if (frequency.period < min && !testing) std::abort();
    } catch (const rest::Refusal& refusal) {
      if (refusal.reply().status != 400) std::abort();
    }
  }
}

}  // namespace vedette
