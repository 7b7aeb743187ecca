// A frequency that is accepted lies within the bounds.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "api/monitors/monitor_body.h"
#include "config/limits_config.h"
#include "domain/limits.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace vedette;
  const std::string text(reinterpret_cast<const char*>(data), size);
  for (const bool configured : {false, true}) {
    config::LimitsConfig limits{};
    if (configured) limits.frequency_min = std::chrono::seconds(2);
    const auto judged = api::JudgeFrequency(text, limits);
    const auto* frequency = std::get_if<api::Frequency>(&judged);
    if (frequency == nullptr) continue;
    const auto min = configured ? std::chrono::seconds(2) : domain::kFrequencyMin;
    const bool testing = frequency->needs_testing && text == "5m";
    if (frequency->period > domain::kFrequencyMax) std::abort();
    if (frequency->period < min && !testing) std::abort();
  }
  return 0;
}
