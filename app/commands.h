#pragma once

#include <string>
#include <utility>
#include <vector>

#include "config/config_fwd.h"
#include "domain/monitor/enums.h"
#include "worker/probes/probe.h"

namespace vedette::app {

struct ProbeOnceOptions {
  domain::Tier tier = domain::Tier::kLow;                    // whose probe, as configured
  std::string url;                                           // the row's url; empty: none
  std::vector<std::pair<std::string, std::string>> subject;  // the row's other columns
  std::vector<std::pair<std::string, std::string>> known;    // values to compare with
  std::vector<worker::WatchedField> watched;
  std::string render;    // never, auto, always, in place of the tier's; empty: as configured
  std::string wait_for;  // a CSS selector for which a rendered page waits; empty: none
  std::vector<domain::PageStep> steps{};
  domain::ProbeSecrets secrets{};  // that the steps type
};

// `vedette probe`: a tier's probe on one row, once. Prints to standard output
//
//   {"url", "probe", "values": {name: {value, ...}}, "absent": [name], "duration_ms"}
//
// and with known values what was compared and what would be a change, and {"rendered": true} where
// a browser ran the page's scripts. A field without a match is left out of `values`. Returns the
// exit status; on failure a sentence is on standard error.
int ProbeOnce(config::Config config, ProbeOnceOptions options);

// "name=description". Throws std::invalid_argument with a sentence that names `option`.
std::pair<std::string, std::string> ParsePair(const std::string& option, const std::string& text);
worker::WatchedField ParseWatch(const std::string& text);
// Reads the steps in a file of JSON: an array, or {"steps": [...], "secrets": {...}}. Likewise.
void ReadSteps(const std::string& path, ProbeOnceOptions* options);

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

struct EmailDoctorOptions {
  std::vector<std::string> to;  // addresses to be verified, all at the same time
  enum class Print : std::uint8_t { kText, kJson } print = Print::kText;
};

// `vedette ctl email doctor`: whether mail servers will talk to this machine, with its
// configuration, and what to do where they will not. Each check is ok, warn or fail; with
// addresses, they are verified and the codes of the replies shown. Prints to standard output.
// Returns the exit status: 0 without a fail.
int EmailDoctor(const config::Config& config, const EmailDoctorOptions& options);

// What `vedette assertion` is given.
struct AssertionOptions {
  std::string client_id;
  std::string key_file;  // the private key, PEM without a password
  std::string audience;
  std::string kid;  // empty: none, so that every key of the client is tried
};

// One assertion of an OAuth client, good for a minute, so that a shell can ask for a token
// (docs/authentication.md). Throws std::runtime_error for a file that holds no such key.
std::string MakeAssertion(const AssertionOptions& options);

}  // namespace vedette::app
