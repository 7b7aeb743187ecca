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
#include <memory>
#include <set>
#include <sstream>
#include <utility>

#include "base/text.h"
#include "config/keys.h"
#include "config/rules.h"
#include "config/setting_files.h"

namespace vedette::config {
namespace {

constexpr std::size_t kFileBytesMax = 1024 * 1024;
constexpr std::string_view kPrefix = "VEDETTE_";
constexpr std::string_view kFileSuffix = "_file";

// Sections of which the operator names as many as there are services, [<section>.<id>].
struct NamedSections {
  std::string_view section;
  std::vector<Key> (*keys)(std::string_view id, Config* config);
};
constexpr NamedSections kNamedSections[] = {{kHttpProvidersSection, HttpProviderKeys},
                                            {kLlmProvidersSection, LlmProviderKeys}};

// The id in the path of such a section. Empty where the path is none.
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

// The keys of a configuration, and of the sections whose names are the operator's, by section and
// name. The configuration must outlive it.
class Keys {
 public:
  explicit Keys(Config* config) : config_(config), table_(KeyTable(config)) {
    for (std::size_t at = 0; at < table_.size(); ++at) {
      const Key& key = table_[at];
      places_.emplace(std::make_pair(key.section, key.name), Place{at, false});
      if (key.values.secret) {
        places_.emplace(std::make_pair(key.section, key.name + std::string(kFileSuffix)),
                        Place{at, true});
      }
    }
  }

  const std::vector<Key>& table() const { return table_; }

  std::optional<Found> Find(const std::string& section, std::string_view name) const {
    if (section == kTokensSection) return Token(name);
    if (section == kRolesSection) return TokenRole(name);
    const auto place = places_.find(std::make_pair(section, std::string(name)));
    if (place != places_.end()) return Found{table_[place->second.at], place->second.from_file};
    for (const NamedSections& named : kNamedSections) {
      const std::string_view id = IdIn(section, named);
      if (!id.empty()) return Among(named.keys(id, config_), section, name);
    }
    return std::nullopt;
  }

  std::optional<Found> Token(std::string_view name) const {
    const bool from_file = name.ends_with(kFileSuffix);
    if (from_file) name.remove_suffix(kFileSuffix.size());
    auto key = TokenKey(name, config_);
    if (!key) return std::nullopt;
    return Found{std::move(*key), from_file};
  }

  std::optional<Found> TokenRole(std::string_view name) const {
    auto key = TokenRoleKey(name, config_);
    if (!key) return std::nullopt;
    return Found{std::move(*key), false};
  }

 private:
  static std::optional<Found> Among(const std::vector<Key>& keys, std::string_view section,
                                    std::string_view name) {
    for (const Key& key : keys) {
      if (key.section != section) continue;
      if (key.name == name) return Found{key, false};
      if (key.values.secret && key.name + std::string(kFileSuffix) == name) return Found{key, true};
    }
    return std::nullopt;
  }

  struct Place {
    std::size_t at;
    bool from_file;
  };

  Config* config_;
  std::vector<Key> table_;
  std::map<std::pair<std::string, std::string>, Place>
      places_;  // in the table, by section and name
};

// The keys with their two ways in: by section and name, and by variable.
class Index {
 public:
  Index() {
    for (const Key& key : keys_.table()) {
      sections_.insert(key.section);
      AddNames(key, EnvironmentName(key.section, key.name));
    }
    sections_.insert(std::string(kTokensSection));
    sections_.insert(std::string(kRolesSection));
    for (const NamedSections& named : kNamedSections) sections_.emplace(named.section);
    // The short form for the usual case of one operator.
    AddNames(keys_.Token("default")->key, "VEDETTE_ADMIN_TOKEN");
  }

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
    return keys_.Find(section, name);
  }

  std::optional<Found> InEnvironment(const std::string& variable) const {
    if (const auto it = variables_.find(variable); it != variables_.end()) return it->second;
    for (const NamedSections& named : kNamedSections) {
      const std::string prefix = EnvironmentName(named.section, "");
      if (variable.starts_with(prefix)) {
        return Named(named, base::AsciiLower(variable.substr(prefix.size())));
      }
    }
    for (const std::string_view section : {kTokensSection, kRolesSection}) {
      const std::string prefix = EnvironmentName(section, "");
      if (!variable.starts_with(prefix)) continue;
      return keys_.Find(std::string(section), base::AsciiLower(variable.substr(prefix.size())));
    }
    return std::nullopt;
  }

  std::string HintInFile(const std::string& written) const {
    std::vector<std::string> known;
    for (const Key& key : keys_.table()) known.push_back(key.Written());
    for (const std::string& section : sections_) known.push_back("[" + section + "]");
    if (written.starts_with(fmt::format("[{}] ", kTokensSection)) ||
        written.starts_with(fmt::format("[{}] ", kRolesSection))) {
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
    if (key.values.secret) variables_.emplace(variable + "_FILE", Found{key, true});
  }

  // "<id>_<key>": both may have underscores, so that the key with the longest name that fits wins.
  std::optional<Found> Named(const NamedSections& named, const std::string& name) const {
    for (std::size_t end = name.find('_'); end != name.npos; end = name.find('_', end + 1)) {
      const std::string section = fmt::format("{}.{}", named.section, name.substr(0, end));
      auto found = keys_.Find(section, std::string_view(name).substr(end + 1));
      if (found) return found;
    }
    return std::nullopt;
  }

  Config scratch_{};  // what the keys are bound to while their values are not known
  const Keys keys_{&scratch_};
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
void FlattenToml(const toml::table& table, const std::string& section, const std::string& source,
                 const Index& index, std::vector<Setting>* out) {
  for (const auto& [toml_key, node] : table) {
    const std::string name(toml_key.str());
    const std::string path = section.empty() ? name : section + "." + name;
    const std::string where = fmt::format("{}:{}: ", source, toml_key.source().begin.line);
    if (const toml::table* inner = node.as_table(); inner && index.IsSection(path)) {
      FlattenToml(*inner, path, source, index, out);
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
    FlattenToml(toml::parse(text, source), "", source, index, &settings);
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
    } else if (variable != "VEDETTE_ADMIN_URL" && variable != "VEDETTE_CELLS_FILE" &&
               !IsServiceLink(variable, value)) {
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

// Applies those settings of a layer whose values come from `source` to what the keys are bound to;
// notes in `set` which keys it touched.
void Apply(const std::vector<Setting>& settings, Key::Source source, const Keys& keys,
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
    const Key bound = keys.Find(setting.key.section, setting.key.name)->key;
    if (!Set(bound.values, value, bound.field)) {
      Fail(fmt::format("{}{} = {}: must be {}", setting.where, setting.written,
                       bound.values.secret ? "(not shown)" : value.Show(),
                       Allowed(bound.values, bound.field)));
    }
    set->insert(key);
  }
}

// Smaller steps and shorter waits than any fleet wants, for tests of crashes: there are many
// middles to be killed in, and what was interrupted goes on soon.
void TakeSmallSteps(Config* config) {
  using std::chrono::seconds;
  config->database.reconnect_first_ms = milliseconds(100);
  config->database.reconnect_max_ms = seconds(1);
  config->scheduler.poll_ms = milliseconds(300);
  config->scheduler.rows_per_cut_max = 256;
  config->scheduler.spread_rows_min = 400;
  config->scheduler.maintenance_ms = milliseconds(500);
  config->worker.poll_ms = milliseconds(300);
  config->worker.control_read_ms = milliseconds(500);
  config->worker.chunk_rows_max = 32;
  config->worker.chunk_duration_target_ms = seconds(1);
  config->worker.record_checks_max = 64;
  config->worker.record_partial_delay_ms = milliseconds(100);
  config->delivery.poll_ms = milliseconds(300);
  config->delivery.breaker_interval_ms = seconds(1);
  config->jobs.record_partial_delay_ms = milliseconds(100);
  config->jobs.keeper_ms = seconds(1);
}

// What follows from keys, and has none.
void FollowKeys(Config* config) {
  DatabaseConfig& database = config->database;
  database.lock_timeout_ms = database.statement_timeout_ms / 3;
  database.tcp_user_timeout_ms = database.statement_timeout_ms / 3;
  database.idle_in_transaction_timeout_ms = database.statement_timeout_ms / 6;
  config->admin.trusted_proxies = config->api.trusted_proxies;
  config->delivery.slow_in_flight_max = config->delivery.in_flight_max;
  config->delivery.drain_timeout_ms = config->delivery.timeout_ms + std::chrono::seconds(1);
  if (config->testing.small_steps) TakeSmallSteps(config);
}

}  // namespace

Config::Config() : Config(std::make_unique<Parts>()) {}

Config::Config(const Config& other) : Config(std::make_unique<Parts>(*other.parts_)) {}

Config& Config::operator=(const Config& other) {
  *parts_ = *other.parts_;
  return *this;
}

Config::~Config() = default;

Config::Config(std::unique_ptr<Parts> parts)
    : database(parts->database),
      api(parts->api),
      api_memory(parts->api_memory),
      waits(parts->waits),
      previews(parts->previews),
      public_url(parts->public_url),
      cell(parts->cell),
      oauth(parts->oauth),
      jwks(parts->jwks),
      oidc(parts->oidc),
      sessions(parts->sessions),
      dashboard(parts->dashboard),
      admin(parts->admin),
      admin_tokens(parts->admin_tokens),
      admin_roles(parts->admin_roles),
      admin_oidc(parts->admin_oidc),
      health(parts->health),
      security(parts->security),
      net(parts->net),
      log(parts->log),
      probes(parts->probes),
      prices_mc(parts->prices_mc),
      render_mc(parts->render_mc),
      email(parts->email),
      mail_domains(parts->mail_domains),
      find_email_prices(parts->find_email_prices),
      reverse_email_price(parts->reverse_email_price),
      age_price(parts->age_price),
      cents_per_credit(parts->cents_per_credit),
      limits(parts->limits),
      retention(parts->retention),
      scheduler(parts->scheduler),
      worker(parts->worker),
      delivery(parts->delivery),
      mail(parts->mail),
      jobs(parts->jobs),
      workflows(parts->workflows),
      lookups(parts->lookups),
      age(parts->age),
      providers(parts->providers),
      gravatar(parts->gravatar),
      smtp(parts->smtp),
      search(parts->search),
      investigations(parts->investigations),
      browser(parts->browser),
      testing(parts->testing),
      parts_(std::move(parts)) {}

bool Config::operator==(const Config& other) const {
  return *parts_ == *other.parts_;
}

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
  static const Index index;
  static const std::vector<Setting> defaults =
      TomlLayer(DefaultConfigText(), "config.default.toml", index);
  Config config{};
  const Keys keys(&config);
  std::set<std::string> set;
  Apply(defaults, Key::Source::kDefaults, keys, &set);
  for (const Key& key : keys.table()) {
    const bool inherited = key.source == Key::Source::kInherited;
    if (!inherited && !set.contains(key.Written())) {
      Fail("config.default.toml lacks " + key.Written());
    }
  }
  set.clear();
  std::vector<std::vector<Setting>> layers;
  if (path) layers.push_back(TomlLayer(ReadFile(*path, ""), *path, index));
  layers.push_back(EnvironmentLayer(environment, index));
  for (const auto& layer : layers) Apply(layer, Key::Source::kDefaults, keys, &set);
  // A file that lowers connections_max alone means no error.
  if (!set.contains("[api] waits_max")) {
    config.waits.waits_max = std::min(config.waits.waits_max, config.api.connections_max / 2);
  }
  // A tier begins as [probes.default] is in all layers together. What any layer says of the tier
  // itself comes on top, so that a file's [probes.low] stands against a variable of the defaults.
  const ProbeConfig probe = config.probes.extract(std::string(kProbeDefaults)).mapped();
  for (const std::string_view tier : kTiers) config.probes[std::string(tier)] = probe;
  for (const auto& layer : layers) Apply(layer, Key::Source::kInherited, keys, &set);
  FollowKeys(&config);
  AddRecipes(&config);
  CheckCaFile(config.net.ca_file);
  MailDomainsConfig& domains = config.mail_domains;
  domains.free = ReadDomainList(domains.free_domains_file, "[email] free_domains_file");
  domains.disposable =
      ReadDomainList(domains.disposable_domains_file, "[email] disposable_domains_file");
  Validate(config);
  return config;
}

bool Renders(const ProbeConfig& probe) {
  return probe.kind == "web" && probe.render != "never";
}

std::map<std::string, std::int64_t> MostPricesMc(const Config& config) {
  std::map<std::string, std::int64_t> prices_mc = config.prices_mc;
  for (auto& [tier, price_mc] : prices_mc) {
    const auto probe = config.probes.find(tier);
    if (probe != config.probes.end() && Renders(probe->second)) price_mc += config.render_mc;
  }
  return prices_mc;
}

std::vector<ConfigKey> ConfigKeys() {
  Config scratch{};
  std::vector<ConfigKey> keys;
  for (const Key& key : KeyTable(&scratch)) {
    keys.push_back({key.section, key.name, EnvironmentName(key.section, key.name),
                    Allowed(key.values, key.field), key.values.secret});
  }
  return keys;
}

}  // namespace vedette::config
