#pragma once

#include <string>
#include <vector>

#include "config/config.h"
#include "worker/probes/probe.h"

namespace vedette::app {

// `vedette probe`: the web probe against one page, once, as tier `low` is configured. Prints
// {"url", "values": {name: {value, ...}}} to standard output; a field without a match is left out.
// Returns the exit status; on failure a sentence is on standard error.
int ProbeOnce(const config::Config& config, const std::string& url,
              std::vector<worker::WatchedField> watched);

// "name=description". Throws std::invalid_argument with a sentence.
worker::WatchedField ParseWatch(const std::string& text);

}  // namespace vedette::app
