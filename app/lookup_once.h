#pragma once

#include <string>
#include <utility>
#include <vector>

#include "config/config_fwd.h"

namespace vedette::app {

struct LookupOnceOptions {
  std::string kind = "find_email";                        // or reverse_email, verify_age
  std::string mode = "PROFESSIONAL";                      // of find_email; or PERSONAL
  std::vector<std::pair<std::string, std::string>> lead;  // its keys and their values
  std::vector<std::string> providers;                     // empty: the configured order
};

// `vedette lookup`: one row of a lookup, once, with this machine's configuration, without a
// database and without a charge. So nothing is known from before, nothing is learnt, the
// suppression list is not asked, and mail servers are asked without the fleet's permits. Prints the
// row's answer, `details.tries` in it, to standard output. Returns the exit status: 1 where the
// row has an error. Throws config::ConfigError for a lead that no request may have.
int LookupOnce(const config::Config& config, const LookupOnceOptions& options);

}  // namespace vedette::app
