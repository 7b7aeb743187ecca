#pragma once

#include <string>
#include <vector>

#include "config/config_fwd.h"

namespace vedette::app {

struct EmailDoctorOptions {
  std::vector<std::string> to;  // addresses to be verified, all at the same time
  enum class Print : std::uint8_t { kText, kJson } print = Print::kText;
};

// `vedette ctl email doctor`: whether mail servers will talk to this machine, with its
// configuration, and what to do where they will not. Each check is ok, warn or fail; with
// addresses, they are verified and the codes of the replies shown. Prints to standard output.
// Returns the exit status: 0 without a fail.
int EmailDoctor(const config::Config& config, const EmailDoctorOptions& options);

}  // namespace vedette::app
