#include "app/commands.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "app/mail_check.h"
#include "app/probe_set.h"
#include "app/row_block_set.h"
#include "base/clock.h"
#include "base/crypto.h"
#include "base/event_loop.h"
#include "base/json.h"
#include "base/key_pair.h"
#include "base/log.h"
#include "base/uuid.h"
#include "config/lookup_config.h"
#include "config/net_config.h"
#include "config/parts.h"
#include "config/probe_config.h"
#include "domain/email/found.h"
#include "domain/email/lead.h"
#include "domain/monitor/probe_options.h"
#include "domain/people/people_answer.h"
#include "domain/people/people_request.h"
#include "domain/text/json_schema.h"
#include "metrics/metrics.h"
#include "net/public_address.h"
#include "net/resolver.h"
#include "worker/blocks/row_runner.h"
#include "worker/checks/verdict.h"
#include "worker/providers/mail/mail_server_memory.h"
#include "worker/providers/mail/verifiers.h"

namespace vedette::app {
namespace {

base::Json ObjectOf(const std::vector<std::pair<std::string, std::string>>& pairs) {
  base::Json object = base::Json::object();
  for (const auto& [name, value] : pairs) object[name] = value;
  return object;
}

worker::ProbeRequest RequestOf(const config::ProbeConfig& config, const ProbeOnceOptions& options,
                               const base::Clock& clock) {
  auto spec = std::make_shared<worker::ProbeSpec>();
  spec->subject_type = domain::SubjectType::kCompany;
  spec->tier = options.tier;
  spec->watched = options.watched;
  spec->options.wait_for = options.wait_for;
  spec->options.steps = options.steps;
  spec->secrets = options.secrets;
  worker::ProbeRequest request;
  request.check_id = base::Uuid::V4();
  request.row_id = base::Uuid::V4();
  request.spec = std::move(spec);
  base::Json subject = ObjectOf(options.subject);
  if (!options.url.empty()) subject["url"] = options.url;
  request.subject = std::move(subject);
  request.context = base::Json::object();
  request.known = ObjectOf(options.known);
  request.until = clock.Now();
  request.timeout = config.timeout_ms;
  request.deadline_left = config.deadline_ms;
  return request;
}

worker::ProbeResult Observe(const config::Config& config, domain::Tier tier,
                            const base::Clock& clock, worker::ProbeRequest request) {
  base::EventLoop loop;
  metrics::Metrics metrics(VEDETTE_VERSION);
  const net::AddressPolicy policy(config.net.allow);
  const base::Logger log(base::LogLevel::kWarn, base::LogFormat::kText);
  ProbeSet probes(loop, clock, metrics, policy, config, log);
  std::optional<worker::ProbeResult> result;
  loop.Post([&] {
    probes.tiers().at(tier).probe->Start(std::move(request), [&](worker::ProbeResult r) {
      result = std::move(r);
      loop.Stop();
    });
  });
  loop.Run();
  return std::move(*result);
}

void AddValues(const worker::Observation& observation, base::Json* out) {
  base::Json values = base::Json::object();
  base::Json absent = base::Json::array();
  for (const auto& [name, field] : observation.fields) {
    if (field.value.Value().is_null()) {
      absent.push_back(name);
      continue;
    }
    base::Json entry = {{"value", field.value.Value()}};
    if (!field.evidence.empty()) entry["evidence"] = field.evidence;
    if (!field.sources.empty()) entry["sources"] = field.sources;
    if (field.confidence) entry["confidence"] = *field.confidence;
    values[name] = std::move(entry);
  }
  (*out)["values"] = std::move(values);
  (*out)["absent"] = std::move(absent);
  if (observation.unread.empty()) return;
  base::Json unread = base::Json::object();
  for (const auto& [name, failure] : observation.unread) {
    unread[name] = failure.error_class + ": " + failure.message;
  }
  (*out)["unread"] = std::move(unread);
}

// A page that was asked to be rendered and cannot be is told as a fault.
void AskForRendering(const std::string& render, config::Config* config,
                     config::ProbeConfig* probe) {
  probe->render = render;
  if (render == "never") return;
  if (probe->kind != "web") {
    throw config::ConfigError(fmt::format(
        "probe: --render is for tiers whose probe is of kind web; this one's is {}", probe->kind));
  }
  const std::string lack = RenderingLack(*config);
  if (!lack.empty()) throw config::ConfigError("probe: --render: nothing is rendered: " + lack);
}

// What would be a change against the known values: as the worker decides, but at once.
base::Json Compared(const worker::ProbeRequest& asked, const worker::ProbeResult& result) {
  const worker::Verdict verdict = worker::DecideVerdict(
      asked.spec->watched, {1, 1}, {asked.known, std::nullopt, std::nullopt}, result);
  base::Json compared = base::Json::object();
  const auto& fields = std::get<worker::Observation>(result).fields;
  for (const auto& [name, known] : asked.known.Value().items()) {
    const auto seen = fields.find(name);
    if (seen == fields.end()) continue;
    compared[name] = {
        {"previous", known}, {"current", seen->second.value.Value()}, {"changed", false}};
  }
  for (const worker::FieldChange& change : verdict.changes) {
    compared[change.field]["changed"] = true;
  }
  return compared;
}

}  // namespace

std::pair<std::string, std::string> ParsePair(const std::string& option, const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
    throw std::invalid_argument(
        option == "--watch"
            ? fmt::format("--watch {}: write name=description, for example --watch 'title=css:h1'",
                          text)
            : fmt::format("{0} {1}: write name=value, for example {0} 'name=Example'", option,
                          text));
  }
  return {text.substr(0, equals), text.substr(equals + 1)};
}

worker::WatchedField ParseWatch(const std::string& text) {
  auto [name, description] = ParsePair("--watch", text);
  return {std::move(name), std::move(description)};
}

void ReadSteps(const std::string& path, ProbeOnceOptions* out) {
  std::ifstream file(path);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  if (!file) throw std::invalid_argument("--steps " + path + ": the file cannot be read");
  base::Json given;
  if (const auto error = base::ParseJson(text, &given)) {
    throw std::invalid_argument(fmt::format("--steps {}: {}", path, error->message));
  }
  base::Json options = given.is_array() ? base::Json{{"steps", given}} : given;
  if (options.is_object()) options["render"] = "always";
  const auto faults = domain::ValidateProbeOptions(base::Json::array(), options);
  if (!faults.empty()) {
    throw std::invalid_argument(
        fmt::format("--steps {}: {} {}", path, base::DumpJson(faults[0].loc), faults[0].msg));
  }
  if (!domain::SecretsToKeep(options).empty()) {
    throw std::invalid_argument("--steps " + path + ": give each secret its value");
  }
  out->steps = domain::ReadProbeOptions(options).steps;
  out->secrets = domain::TakeSecrets(&options);
}

int ProbeOnce(config::Config config, ProbeOnceOptions options) {
  const base::SystemClock clock;
  config::ProbeConfig& probe = config.probes.at(std::string(TierName(options.tier)));
  if (!options.render.empty()) AskForRendering(options.render, &config, &probe);
  const worker::ProbeRequest request = RequestOf(probe, options, clock);
  const auto began = clock.SinceBoot();
  const worker::ProbeResult result = Observe(config, options.tier, clock, request);
  const auto took = std::chrono::ceil<std::chrono::milliseconds>(clock.SinceBoot() - began);
  if (const auto* failure = std::get_if<worker::ProbeFailure>(&result)) {
    fmt::print(stderr, "vedette probe: {} ({})\n", failure->message, failure->error_class);
    if (failure->error_class == "refused_address") {
      fmt::print(stderr,
                 "To let probes reach it, set VEDETTE_NET_ALLOW ([net] allow) to its "
                 "addresses, for example 127.0.0.0/8.\n");
    }
    return 1;
  }
  base::Json out = base::Json::object();
  if (!options.url.empty()) out["url"] = options.url;
  out["probe"] = probe.kind;
  const auto& seen = std::get<worker::Observation>(result);
  if (seen.rendered) out["rendered"] = true;
  AddValues(seen, &out);
  if (!options.known.empty()) out["compared"] = Compared(request, result);
  out["duration_ms"] = took.count();
  fmt::print("{}\n", out.dump(2, ' ', false, base::Json::error_handler_t::replace));
  return 0;
}

namespace {

constexpr std::string_view kFindEmail = "find_email";

base::Json LeadOf(const LookupOnceOptions& options) {
  base::Json lead = base::Json::object();
  for (const auto& [key, value] : options.lead) lead[key] = value;
  std::optional<domain::LeadFault> fault;
  if (options.kind == kFindEmail) {
    const auto read = domain::ReadLead(lead);
    if (const auto* wrong = std::get_if<domain::LeadFault>(&read)) fault = *wrong;
  } else {
    const auto read = domain::ReadSubject(lead);
    if (const auto* wrong = std::get_if<domain::LeadFault>(&read)) fault = *wrong;
  }
  if (fault) {
    throw config::ConfigError(fmt::format("lookup: --lead{}{} {}", fault->key.empty() ? "" : " ",
                                          fault->key, fault->message));
  }
  return lead;
}

// What the block of such a job is told.
std::string SpecsOf(const config::Config& config, const LookupOnceOptions& options) {
  if (options.kind == kFindEmail) {
    domain::FindRequest request;
    request.mode = *domain::ParseFindMode(options.mode);
    request.providers = options.providers;
    return domain::FindSpecsJson(request);
  }
  domain::PeopleRequest request;
  request.providers = options.providers;
  request.minimum_age = config.lookups.minimum_result_age;
  return domain::PeopleSpecsJson(request);
}

worker::RowResult Work(const config::Config& config, const LookupOnceOptions& options,
                       const base::Json& lead) {
  const base::SystemClock clock;
  base::EventLoop loop;
  metrics::Metrics metrics(VEDETTE_VERSION);
  const net::AddressPolicy policy(config.net.allow);
  const base::Logger log(base::LogLevel::kOff, base::LogFormat::kText);
  ProbeSet probes(loop, clock, metrics, policy, config, log);
  RowBlockSet blocks(
      loop, clock, metrics, probes.service_client(), probes.service_budgets(), probes.sites(),
      {std::make_unique<worker::NoEmailMemory>(), std::make_unique<OpenMailServerMemory>(loop)},
      policy, config, {}, log);
  worker::RowBlock* block = nullptr;
  for (worker::RowBlock* one : blocks.all()) {
    if (one->type() == options.kind) block = one;
  }
  auto bound = block->Bind(SpecsOf(config, options), 0);
  if (const auto* why = std::get_if<std::string>(&bound)) throw config::ConfigError(*why);
  const auto runner = std::get<std::shared_ptr<worker::RowRunner>>(bound);
  worker::RowRequest request;
  request.row_id = base::Uuid::V4();
  request.job_id = base::Uuid::V4();
  request.cells = {base::DumpJson(domain::FindRowCell({lead}))};
  request.timeout = runner->RowTimeout().value_or(config.lookups.row_timeout_ms);
  request.may_wait = false;
  std::optional<worker::RowResult> result;
  loop.Post([&] {
    runner->Start(std::move(request), [&](worker::RowResult ended) {
      result = std::move(ended);
      loop.Stop();
    });
  });
  loop.Run();
  return std::move(*result);
}

}  // namespace

int LookupOnce(const config::Config& config, const LookupOnceOptions& options) {
  const base::Json lead = LeadOf(options);
  const worker::RowResult result = Work(config, options, lead);
  const auto* done = std::get_if<worker::RowDone>(&result);
  if (done == nullptr) {
    const auto* failure = std::get_if<worker::RowFailure>(&result);
    fmt::print(stderr, "vedette lookup: {}\n",
               failure == nullptr ? "It has to be asked again later." : failure->message);
    return 1;
  }
  base::Json answer = base::ParseJsonOrThrow(done->cells.front());
  if (options.kind == kFindEmail) answer = domain::MergeFound(lead, answer);
  answer["details"]["charged"] = false;
  fmt::print("{}\n", answer.dump(2, ' ', false, base::Json::error_handler_t::replace));
  return done->error ? 1 : 0;
}

namespace {

using worker::LookupAnswer;

constexpr std::chrono::minutes kVerifyTimeout{5};

std::vector<LookupAnswer> Verify(const config::Config& config,
                                 const std::vector<std::string>& addresses) {
  const base::SystemClock clock;
  base::EventLoop loop;
  const net::AddressPolicy policy(config.net.allow);
  net::Resolver names(loop, config.net.dns_servers, net::kNamesTimeout, net::NameSources::kDnsOnly);
  metrics::Metrics metrics(VEDETTE_VERSION);
  OpenMailServerMemory mail_servers(loop);
  worker::SmtpVerifier verifier(loop, clock, metrics, policy, config, mail_servers,
                                worker::NamesOf(names));
  std::vector<LookupAnswer> answers(addresses.size());
  std::size_t left = addresses.size();
  loop.Post([&] {
    for (std::size_t i = 0; i < addresses.size(); ++i) {
      worker::LookupRequest request;
      request.lookup = worker::Lookup::kVerifyEmail;
      request.address = addresses[i];
      request.timeout = kVerifyTimeout;
      verifier.Start(std::move(request), [&, i](LookupAnswer answer) {
        answers[i] = std::move(answer);
        if (--left == 0) loop.Stop();
      });
    }
  });
  loop.Run();
  return answers;
}

base::Json CodesJson(const domain::ReplyCodes& codes) {
  if (codes.code == 0) return nullptr;
  return {{"code", codes.code}, {"enhanced", codes.enhanced}};
}

base::Json AnswerJson(const std::string& address, const LookupAnswer& answer) {
  const auto* later = std::get_if<worker::Later>(&answer);
  const auto& verdict =
      later != nullptr ? later->verdict : std::get<domain::AddressVerdict>(answer);
  constexpr std::string_view kStatus[] = {"OK", "UNKNOWN", "NOT_FOUND"};
  base::Json json = base::Json::object();
  json["address"] = address;
  json["status"] = kStatus[static_cast<std::size_t>(verdict.verdict)];
  json["reason"] = VerdictReasonName(verdict.reason);
  json["later_s"] =
      later == nullptr
          ? base::Json(nullptr)
          : base::Json(std::chrono::duration_cast<std::chrono::seconds>(later->wait).count());
  json["mx"] = verdict.evidence.mx_host;
  json["reply"] = CodesJson(verdict.evidence.address);
  json["control"] = CodesJson(verdict.evidence.control);
  json["witness"] = CodesJson(verdict.evidence.witness);
  return json;
}

}  // namespace

int EmailDoctor(const config::Config& config, const EmailDoctorOptions& options) {
  const base::SystemClock clock;
  const std::vector<MailCheck> checks = ExamineMail(config, clock)->Run();
  base::Json out = {{"checks", MailChecksJson(checks)}, {"verified", base::Json::array()}};
  const bool failed = std::any_of(checks.begin(), checks.end(), [](const MailCheck& check) {
    return check.health == MailHealth::kFail;
  });
  if (!options.to.empty() && !config.smtp.hello_name.empty()) {
    const std::vector<LookupAnswer> answers = Verify(config, options.to);
    for (std::size_t i = 0; i < answers.size(); ++i) {
      out["verified"].push_back(AnswerJson(options.to[i], answers[i]));
    }
  }
  if (options.print == EmailDoctorOptions::Print::kJson) {
    fmt::print("{}\n", out.dump(2, ' ', false, base::Json::error_handler_t::replace));
    return failed ? 1 : 0;
  }
  for (const MailCheck& check : checks) {
    fmt::print("{:4}  {:28}  {}\n", MailHealthName(check.health), check.name, check.message);
  }
  for (const base::Json& one : out["verified"]) fmt::print("{}\n", one.dump());
  return failed ? 1 : 0;
}

namespace {

constexpr std::chrono::seconds kLife{60};

std::string ReadKeyFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("the key's file " + path + " cannot be read");
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

std::string MakeAssertion(const AssertionOptions& options) {
  const auto key = base::SigningKey::FromPem(ReadKeyFile(options.key_file));
  const auto algorithm = key.DefaultAlgorithm();
  const auto now = std::chrono::floor<std::chrono::seconds>(base::SystemClock().Now());
  base::Json header{{"alg", base::SignatureAlgorithmName(algorithm)}, {"typ", "JWT"}};
  if (!options.kid.empty()) header["kid"] = options.kid;
  const base::Json claims{{"iss", options.client_id},
                          {"sub", options.client_id},
                          {"aud", options.audience},
                          {"jti", base::Uuid::V4().ToString()},
                          {"exp", (now + kLife).time_since_epoch().count()}};
  const std::string input = base::Base64UrlEncode(base::DumpJson(header)) + "." +
                            base::Base64UrlEncode(base::DumpJson(claims));
  return input + "." + base::Base64UrlEncode(key.Sign(algorithm, input));
}

}  // namespace vedette::app
