#pragma once

#include <string>
#include <utility>
#include <vector>

#include "config/config_fwd.h"
#include "domain/names.h"
#include "worker/probes/probe.h"

namespace vedette::app {

struct ProbeOnceOptions {
  domain::Tier tier = domain::Tier::kLow;                    // whose probe, as configured
  std::string url;                                           // the row's url; empty: none
  std::vector<std::pair<std::string, std::string>> subject;  // the row's other columns
  std::vector<std::pair<std::string, std::string>> known;    // values to compare with
  std::vector<worker::WatchedField> watched;
};

// `vedette probe`: a tier's probe on one row, once. Prints {"url", "probe", "values": {name:
// {value,
// ...}}, "absent": [name], "duration_ms"} to standard output, and with known values what was
// compared and what would be a change. A field without a match is left out of `values`. Returns the
// exit status; on failure a sentence is on standard error.
int ProbeOnce(const config::Config& config, ProbeOnceOptions options);

// "name=description". Throws std::invalid_argument with a sentence that names `option`.
std::pair<std::string, std::string> ParsePair(const std::string& option, const std::string& text);
worker::WatchedField ParseWatch(const std::string& text);

}  // namespace vedette::app
