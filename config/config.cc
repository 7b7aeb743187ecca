#include "config/config.h"

#include <fmt/format.h>
#include <toml++/toml.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <utility>

#include "base/closest_word.h"
#include "base/text.h"
#include "base/uuid.h"
#include "config/domain_list_file.h"
#include "config/keys.h"
#include "config/provider_rules.h"
#include "config/values.h"
#include "domain/email/address.h"

namespace vedette::config {
namespace {

// Of a run of a workflow: its rows are dropped by days.
constexpr std::chrono::hours kRunTimeoutMax = std::chrono::days(7);
constexpr std::size_t kFileBytesMax = 1024 * 1024;
constexpr std::string_view kPrefix = "VEDETTE_";
constexpr std::string_view kFileSuffix = "_file";

// Sections of which the operator names as many as there are services, [<section>.<id>].
struct NamedSections {
  std::string_view section;
  std::vector<Key> (*keys)(std::string_view id);
};
constexpr NamedSections kNamedSections[] = {{kHttpProvidersSection, HttpProviderKeys},
                                            {kLlmProvidersSection, LlmProviderKeys}};

// Of the path of such a section: the id in it. Empty where it is none.
std::string_view IdIn(std::string_view path, const NamedSections& named) {
  const bool is_below = path.size() > named.section.size() && path.starts_with(named.section) &&
                        path[named.section.size()] == '.';
  return is_below ? path.substr(named.section.size() + 1) : std::string_view();
}

constexpr std::pair<std::string_view, std::string_view> kEmbedded[] = {
#include "config_default.inc"
};

// One value of a layer: which key it sets, and how its author knows it.
struct Setting {
  Key key;
  bool from_file;  // the value names the file that holds the secret
  RawValue value;
  std::string written;  // "[limits] foo", "VEDETTE_LIMITS_FOO"
  std::string where;    // "vedette.toml:12: ", or empty
};

[[noreturn]] void Fail(const std::string& message) {
  throw ConfigError(message);
}

std::string ReadFile(const std::string& path, const std::string& context) {
  std::ifstream in(path, std::ios::binary);
  if (!in) Fail(fmt::format("{}cannot read {}: {}", context, path, std::strerror(errno)));
  std::string text(kFileBytesMax + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (in.bad() || (in.gcount() == 0 && !in.eof())) {
    Fail(fmt::format("{}cannot read {}", context, path));
  }
  text.resize(static_cast<std::size_t>(in.gcount()));
  if (text.size() > kFileBytesMax) {
    Fail(fmt::format("{}{} is longer than {} bytes", context, path, kFileBytesMax));
  }
  return text;
}

// A name that is further off was not meant.
constexpr std::size_t kTyposMax = 4;

// The end of a sentence about something unknown: what was probably meant, if anything is so close
// that it was. `what` is "key" or "one".
std::string Hint(const std::string& unknown, const std::vector<std::string>& known,
                 std::string_view what) {
  const auto closest = base::ClosestWord(unknown, known, kTyposMax);
  if (!closest) {
    return fmt::format("; no known {} is close, `vedette config` prints them all", what);
  }
  return fmt::format("; the closest known {} is {}", what, *closest);
}

// A key and whether the name asked for is its <key>_file form.
struct Found {
  Key key;
  bool from_file;
};

// The table with its two ways in: by section and name, and by variable.
class Index {
 public:
  Index() : table_(KeyTable()) {
    for (const Key& key : table_) {
      sections_.insert(key.section);
      AddNames(key, EnvironmentName(key.section, key.name));
    }
    sections_.insert(std::string(kTokensSection));
    for (const NamedSections& named : kNamedSections) sections_.emplace(named.section);
    // The short form for the usual case of one operator.
    AddNames(*TokenKey("default"), "VEDETTE_ADMIN_TOKEN");
  }

  const std::vector<Key>& table() const { return table_; }

  // Whether `path` is a section, or a table around sections ("probes").
  bool IsSection(const std::string& path) const {
    return std::any_of(sections_.begin(), sections_.end(),
                       [&](const std::string& section) {
                         return section == path || section.starts_with(path + ".");
                       }) ||
           std::any_of(std::begin(kNamedSections), std::end(kNamedSections),
                       [&](const NamedSections& named) { return !IdIn(path, named).empty(); });
  }

  std::optional<Found> InFile(const std::string& section, std::string_view name) const {
    if (section == kTokensSection) return Token(name);
    if (auto found = Among(table_, section, name)) return found;
    for (const NamedSections& named : kNamedSections) {
      const std::string_view id = IdIn(section, named);
      if (!id.empty()) return Among(named.keys(id), section, name);
    }
    for (const Key& key : former_) {
      if (key.section == section && key.name == name) return Found{key, false};
    }
    return std::nullopt;
  }

  std::optional<Found> InEnvironment(const std::string& variable) const {
    if (const auto it = variables_.find(variable); it != variables_.end()) return it->second;
    for (const Key& key : former_) {
      if (EnvironmentName(key.section, key.name) == variable) return Found{key, false};
    }
    for (const NamedSections& named : kNamedSections) {
      const std::string prefix = EnvironmentName(named.section, "");
      if (variable.starts_with(prefix)) {
        return Named(named, base::AsciiLower(variable.substr(prefix.size())));
      }
    }
    const std::string tokens = EnvironmentName(kTokensSection, "");
    if (!variable.starts_with(tokens)) return std::nullopt;
    return Token(base::AsciiLower(variable.substr(tokens.size())));
  }

  std::string HintInFile(const std::string& written) const {
    std::vector<std::string> known;
    for (const Key& key : table_) known.push_back(key.Written());
    for (const std::string& section : sections_) known.push_back("[" + section + "]");
    if (written.starts_with(fmt::format("[{}] ", kTokensSection))) {
      return "; the name of a token has lower case letters, digits, - and _";
    }
    return Hint(written, known, "key");
  }

  std::string HintVariable(const std::string& variable) const {
    std::vector<std::string> known;
    for (const auto& [name, found] : variables_) known.push_back(name);
    return Hint(variable, known, "one");
  }

 private:
  void AddNames(const Key& key, const std::string& variable) {
    variables_.emplace(variable, Found{key, false});
    if (key.secret) variables_.emplace(variable + "_FILE", Found{key, true});
  }

  static std::optional<Found> Among(const std::vector<Key>& keys, std::string_view section,
                                    std::string_view name) {
    for (const Key& key : keys) {
      if (key.section != section) continue;
      if (key.name == name) return Found{key, false};
      if (key.secret && key.name + std::string(kFileSuffix) == name) return Found{key, true};
    }
    return std::nullopt;
  }

  // "<id>_<key>": both may have underscores, so that the key with the longest name that fits wins.
  static std::optional<Found> Named(const NamedSections& named, const std::string& name) {
    for (std::size_t end = name.find('_'); end != name.npos; end = name.find('_', end + 1)) {
      const std::string id = name.substr(0, end);
      auto found = Among(named.keys(id), std::string(named.section) + "." + id,
                         std::string_view(name).substr(end + 1));
      if (found) return found;
    }
    return std::nullopt;
  }

  static std::optional<Found> Token(std::string_view name) {
    const bool from_file = name.ends_with(kFileSuffix);
    if (from_file) name.remove_suffix(kFileSuffix.size());
    auto key = TokenKey(name);
    if (!key) return std::nullopt;
    return Found{std::move(*key), from_file};
  }

  std::vector<Key> table_;
  const std::vector<Key> former_ = FormerKeys();  // read, but never suggested or listed
  std::set<std::string> sections_;
  std::map<std::string, Found> variables_;
};

RawValue FromToml(const toml::node& node) {
  RawValue raw;
  if (const auto* text = node.as_string()) {
    raw.kind = RawValue::Kind::kText;
    raw.text = text->get();
  } else if (const auto* integer = node.as_integer()) {
    raw.kind = RawValue::Kind::kInteger;
    raw.integer = integer->get();
  } else if (const auto* real = node.as_floating_point()) {
    raw.kind = RawValue::Kind::kReal;
    raw.real = real->get();
  } else if (const auto* boolean = node.as_boolean()) {
    raw.kind = RawValue::Kind::kBoolean;
    raw.boolean = boolean->get();
  } else if (const auto* array = node.as_array()) {
    raw.kind = RawValue::Kind::kList;
    for (const toml::node& item : *array) {
      if (const auto* element = item.as_string()) {
        raw.list.push_back(element->get());
      } else {
        raw.kind = RawValue::Kind::kOther;
      }
    }
  }
  return raw;
}

// Gathers the settings of a table and the tables in it.
void WalkToml(const toml::table& table, const std::string& section, const std::string& source,
              const Index& index, std::vector<Setting>* out) {
  for (const auto& [toml_key, node] : table) {
    const std::string name(toml_key.str());
    const std::string path = section.empty() ? name : section + "." + name;
    const std::string where = fmt::format("{}:{}: ", source, toml_key.source().begin.line);
    if (const toml::table* inner = node.as_table(); inner && index.IsSection(path)) {
      WalkToml(*inner, path, source, index, out);
      continue;
    }
    const std::string written = node.is_table()   ? "[" + path + "]"
                                : section.empty() ? name
                                                  : "[" + section + "] " + name;
    auto found = index.InFile(section, name);
    if (!found) {
      Fail(fmt::format("{}unknown key {}{}", where, written, index.HintInFile(written)));
    }
    out->push_back({std::move(found->key), found->from_file, FromToml(node), written, where});
  }
}

std::vector<Setting> TomlLayer(std::string_view text, const std::string& source,
                               const Index& index) {
  try {
    std::vector<Setting> settings;
    WalkToml(toml::parse(text, source), "", source, index, &settings);
    return settings;
  } catch (const toml::parse_error& e) {
    Fail(fmt::format("{}:{}:{}: {}", source, e.source().begin.line, e.source().begin.column,
                     e.description()));
  }
}

// Kubernetes and container links announce a service called vedette to its neighbours by variables
// of these forms (VEDETTE_API_SERVICE_HOST, VEDETTE_PORT_80_TCP, VEDETTE_PORT=tcp://...).
bool IsServiceLink(std::string_view variable, std::string_view value) {
  const bool port_url = value.starts_with("tcp://") || value.starts_with("udp://");
  if (variable.ends_with("_PORT") && port_url) return true;
  if (variable.ends_with("_SERVICE_HOST") || variable.find("_SERVICE_PORT") != variable.npos) {
    return true;
  }
  const std::size_t port = variable.find("_PORT_");
  return port != variable.npos && port + 6 < variable.size() && variable[port + 6] >= '0' &&
         variable[port + 6] <= '9';
}

std::vector<Setting> EnvironmentLayer(const Environment& environment, const Index& index) {
  std::vector<Setting> settings;
  for (const auto& [variable, value] : environment) {
    if (!variable.starts_with(kPrefix)) continue;
    auto found = index.InEnvironment(variable);
    if (found) {
      settings.push_back(
          {std::move(found->key), found->from_file, RawValue::Plain(value), variable, ""});
    } else if (variable != "VEDETTE_ADMIN_URL" && !IsServiceLink(variable, value)) {
      Fail(fmt::format("unknown variable {}{}", variable, index.HintVariable(variable)));
    }
  }
  return settings;
}

// What stands in the file that a <key>_file setting names.
RawValue SecretOfFile(const Setting& setting) {
  const bool is_text =
      setting.value.kind == RawValue::Kind::kText || setting.value.kind == RawValue::Kind::kPlain;
  if (!is_text || setting.value.text.empty()) {
    Fail(fmt::format("{}{} = {}: must be the path of a file", setting.where, setting.written,
                     setting.value.Show()));
  }
  std::string text =
      ReadFile(setting.value.text, fmt::format("{}{}: ", setting.where, setting.written));
  while (text.ends_with('\n') || text.ends_with('\r')) text.pop_back();
  return RawValue::Plain(std::move(text));
}

// Applies those settings of a layer whose values come from `source`; notes in `set` which keys it
// touched.
void Apply(const std::vector<Setting>& settings, Key::Source source, Config* config,
           std::set<std::string>* set) {
  std::map<std::string, std::string> written;
  for (const Setting& setting : settings) {
    if (setting.key.source != source) continue;
    const std::string key = setting.key.Written();
    const auto [earlier, is_new] = written.emplace(key, setting.written);
    if (!is_new) {
      Fail(fmt::format("{}{} and {} are both set: give one of them", setting.where, earlier->second,
                       setting.written));
    }
    const RawValue value = setting.from_file ? SecretOfFile(setting) : setting.value;
    if (!setting.key.set(value, config)) {
      Fail(fmt::format("{}{} = {}: must be {}", setting.where, setting.written,
                       setting.key.secret ? "(not shown)" : value.Show(), setting.key.allowed));
    }
    set->insert(key);
  }
}

void ValidateSmtp(const Config& config) {
  const SmtpConfig& smtp = config.smtp;
  const std::string& verifier = config.lookups.verifier;
  if (verifier != "smtp" && verifier != "none" && !VerifiesAddresses(config.providers, verifier)) {
    Fail(
        fmt::format("[lookups] verifier = \"{}\": must be smtp, none, or the id of a provider that "
                    "verifies addresses",
                    verifier));
  }
  if (!smtp.proxy.empty() && !smtp.proxy.starts_with("socks5://")) {
    Fail(fmt::format("[email.smtp] proxy = \"{}\": must be socks5://host:port", smtp.proxy));
  }
  if (!smtp.mail_from.empty() && !domain::ParseAddress(smtp.mail_from)) {
    Fail(fmt::format("[email.smtp] mail_from = \"{}\": must be an address", smtp.mail_from));
  }
  if (!smtp.hello_name.empty() && !domain::ParseDomain(smtp.hello_name)) {
    Fail(
        fmt::format("[email.smtp] hello_name = \"{}\": must be a full name, such as "
                    "verify.example.org",
                    smtp.hello_name));
  }
}

// An index, or several: what stands in a path as it is.
bool IsIndexName(std::string_view name) {
  return std::all_of(name.begin(), name.end(), [](char c) {
    return base::IsAsciiLetter(c) || base::IsAsciiDigit(c) ||
           std::string_view("-_.,*").find(c) != std::string_view::npos;
  });
}

void ValidateSearch(const SearchConfig& search) {
  if (search.backend != "opensearch") return;
  if (search.url.empty()) Fail("[search] url = \"\": backend = \"opensearch\" needs a url");
  for (const auto& [key, name] : {std::pair("index_people", &search.index_people),
                                  std::pair("index_company", &search.index_company)}) {
    if (IsIndexName(*name)) continue;
    Fail(fmt::format("[search] {} = \"{}\": must be the name of an index", key, *name));
  }
  if (!search.user.empty() && !search.api_key.empty()) {
    Fail("[search] user and api_key: at most one of them may be set");
  }
  if (search.user.empty() != search.password.empty()) {
    Fail("[search] user and password: both of them must be set, or neither");
  }
}

void ValidateInvestigations(const InvestigationsConfig& config) {
  for (const auto& [id, url] :
       {std::pair("rdap", &config.rdap_url), std::pair("ct", &config.ct_url)}) {
    const auto& ids = config.providers;
    if (std::find(ids.begin(), ids.end(), id) == ids.end() || !url->empty()) continue;
    Fail(fmt::format("[investigations] {0}_url = \"\": the provider {0} needs it", id));
  }
}

void ValidateJobs(const Config& config) {
  ValidateProviders(config);
  ValidateSmtp(config);
  const int waits_max = config.api.connections_max / 2;
  if (config.waits.waits_max > waits_max) {
    Fail(fmt::format("[api] waits_max = {}: must be at most half of connections_max ({})",
                     config.waits.waits_max, config.api.connections_max));
  }
  const auto run_timeout_max =
      std::min<std::chrono::hours>(config.retention.run_data, kRunTimeoutMax);
  if (config.workflows.run_timeout > run_timeout_max) {
    Fail(fmt::format(
        "[workflows] run_timeout = {}h: must be at most 7d and [retention] run_data, {}h",
        config.workflows.run_timeout.count(), run_timeout_max.count()));
  }
  if (config.worker.lanes.empty()) Fail("[worker] lanes = []: must name at least one lane");
}

// http lets nobody listen in on this machine alone.
bool IsHttpsOrLoopback(std::string_view url) {
  if (url.starts_with("https://")) return true;
  for (const std::string_view host : {"http://127.0.0.1", "http://localhost", "http://[::1]"}) {
    if (!url.starts_with(host)) continue;
    const std::string_view rest = url.substr(host.size());
    return rest.empty() || rest.front() == ':' || rest.front() == '/';
  }
  return false;
}

// A claim is named by a member, or by a JSON Pointer whose '~' are all escapes (RFC 6901).
bool IsClaimName(std::string_view claim) {
  if (!claim.starts_with('/')) return true;
  for (std::size_t i = claim.find('~'); i != claim.npos; i = claim.find('~', i + 1)) {
    if (i + 1 == claim.size() || (claim[i + 1] != '0' && claim[i + 1] != '1')) return false;
  }
  return true;
}

void ValidateOidc(const OidcConfig& oidc) {
  if (oidc.issuer.empty()) {
    for (const auto& [key, value] :
         {std::pair("audience", &oidc.audience), std::pair("org_claim", &oidc.org_claim),
          std::pair("organisation", &oidc.organisation),
          std::pair("team_claim", &oidc.team_claim)}) {
      if (value->empty()) continue;
      Fail(fmt::format("[oidc] {} = \"{}\": needs [oidc] issuer, which is empty", key, *value));
    }
    return;
  }
  if (!IsHttpsOrLoopback(oidc.issuer)) {
    Fail(fmt::format("[oidc] issuer = \"{}\": must be https, or http on loopback", oidc.issuer));
  }
  if (oidc.audience.empty()) Fail("[oidc] audience = \"\": must be set where issuer is");
  if (oidc.org_claim.empty() == oidc.organisation.empty()) {
    Fail("[oidc] org_claim and organisation: exactly one of them must be set where issuer is");
  }
  if (!oidc.organisation.empty() && !base::Uuid::Parse(oidc.organisation)) {
    Fail(fmt::format("[oidc] organisation = \"{}\": must be an organisation's id",
                     oidc.organisation));
  }
  if (oidc.algorithms.empty()) Fail("[oidc] algorithms = []: must name at least one");
  for (const auto& [key, claim] :
       {std::pair("org_claim", &oidc.org_claim), std::pair("team_claim", &oidc.team_claim),
        std::pair("user_claim", &oidc.user_claim)}) {
    if (IsClaimName(*claim)) continue;
    Fail(fmt::format("[oidc] {} = \"{}\": must be a member's name or a JSON Pointer", key, *claim));
  }
}

void ValidateJwks(const JwksConfig& jwks) {
  if (jwks.retry_ms > jwks.fresh_ms) {
    Fail(fmt::format("[oauth] jwks_retry_ms = {}: must be at most jwks_fresh_ms ({})",
                     jwks.retry_ms.count(), jwks.fresh_ms.count()));
  }
  if (jwks.fresh_ms > jwks.stale_max_ms) {
    Fail(fmt::format("[oauth] jwks_fresh_ms = {}: must be at most jwks_stale_max_ms ({})",
                     jwks.fresh_ms.count(), jwks.stale_max_ms.count()));
  }
}

// What no key can judge alone.
void Validate(const Config& config) {
  ValidateOidc(config.oidc);
  ValidateJwks(config.jwks);
  ValidateSearch(config.search);
  ValidateInvestigations(config.investigations);
  const WorkerConfig& worker = config.worker;
  if (worker.control_read_ms >= worker.control_age_max_ms) {
    Fail(fmt::format("[worker] control_read_ms = {}: must be less than control_age_max_ms ({})",
                     worker.control_read_ms.count(), worker.control_age_max_ms.count()));
  }
  ValidateJobs(config);
  if (worker.rows_held_bytes_max < config.limits.row_bytes_max) {
    Fail(fmt::format(
        "[worker] rows_held_bytes_max = {}: must be at least [limits] row_bytes_max ({}), because "
        "no row could be claimed",
        worker.rows_held_bytes_max, config.limits.row_bytes_max));
  }
  for (const auto& [tier, probe] : config.probes) {
    const bool needs_url = probe.kind == "http" || probe.kind == "llm";
    if (needs_url && probe.url.empty()) {
      Fail(fmt::format("[probes.{}] url = \"\": kind = \"{}\" needs a url", tier, probe.kind));
    }
    if (probe.kind == "llm" && probe.model.empty()) {
      Fail(fmt::format("[probes.{}] model = \"\": kind = \"llm\" needs a model", tier));
    }
    if (probe.kind == "web" && probe.url.empty() != probe.model.empty()) {
      Fail(
          fmt::format("[probes.{}]: with kind = \"web\", url and model are set both (prose goes to "
                      "that model) or neither",
                      tier));
    }
  }
}

}  // namespace

std::string_view DefaultConfigText() {
  return kEmbedded[0].second;
}

Environment ProcessEnvironment() {
  Environment environment;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    environment.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return environment;
}

Config LoadConfig(const std::optional<std::string>& path, const Environment& environment) {
  const Index index;
  Config config{};
  std::set<std::string> set;
  Apply(TomlLayer(DefaultConfigText(), "config.default.toml", index), Key::Source::kDefaults,
        &config, &set);
  for (const Key& key : index.table()) {
    const bool inherited = key.source == Key::Source::kInherited;
    if (!inherited && !set.contains(key.Written())) {
      Fail("config.default.toml lacks " + key.Written());
    }
  }
  set.clear();
  std::vector<std::vector<Setting>> layers;
  if (path) layers.push_back(TomlLayer(ReadFile(*path, ""), *path, index));
  layers.push_back(EnvironmentLayer(environment, index));
  for (const auto& layer : layers) Apply(layer, Key::Source::kDefaults, &config, &set);
  // A file that lowers connections_max and was written before there were waits means no error.
  if (!set.contains("[api] waits_max")) {
    config.waits.waits_max = std::min(config.waits.waits_max, config.api.connections_max / 2);
  }
  // A tier begins as [probes.default] is in all layers together. What any layer says of the tier
  // itself comes on top, so that a file's [probes.low] stands against a variable of the defaults.
  const ProbeConfig probe = config.probes.extract(std::string(kProbeDefaults)).mapped();
  for (const std::string_view tier : kTiers) config.probes.emplace(tier, probe);
  for (const auto& layer : layers) Apply(layer, Key::Source::kInherited, &config, &set);
  AddRecipes(&config);
  MailDomainsConfig& domains = config.mail_domains;
  domains.free = ReadDomainList(domains.free_domains_file, "[email] free_domains_file");
  domains.disposable =
      ReadDomainList(domains.disposable_domains_file, "[email] disposable_domains_file");
  Validate(config);
  return config;
}

std::vector<ConfigKey> ConfigKeys() {
  std::vector<ConfigKey> keys;
  for (const Key& key : KeyTable()) {
    keys.push_back(
        {key.section, key.name, EnvironmentName(key.section, key.name), key.allowed, key.secret});
  }
  return keys;
}

}  // namespace vedette::config
