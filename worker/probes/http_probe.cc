#include "worker/probes/http_probe.h"

#include <optional>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/text.h"
#include "config/probe_config.h"
#include "domain/monitor/enums.h"
#include "worker/probes/spec_cache.h"
#include "worker/services/service_call.h"

namespace vedette::worker {
namespace {

// Values in all: about 20 MB of memory.
constexpr base::JsonLimits kAnswerLimits{.values_max = 200'000};

ProbeFailure Invalid(std::string_view what) {
  return {"invalid_answer",
          fmt::format("The research service's answer is not valid: {}.", what),
          false,
          {}};
}

// Absent and null mean the same for everything but the value.
}  // namespace

std::string ResearchMonitorMembers(const ProbeSpec& spec) {
  base::Json members = base::Json::object();
  members["monitor_id"] = spec.monitor_id.ToString();
  members["subject_type"] = domain::SubjectTypeName(spec.subject_type);
  base::Json& watched = members["watched"] = base::Json::object();
  for (const WatchedField& field : spec.watched) watched[field.name] = field.description;
  members["tier"] = domain::TierName(spec.tier);
  members["research_plan"] = spec.research_plan ? base::Json(*spec.research_plan) : nullptr;
  const std::string object = base::DumpJson(members);
  return object.substr(1, object.size() - 2);
}

std::string ResearchRequestBody(const ProbeRequest& request, std::string_view monitor_members) {
  const std::string since =
      request.since ? '"' + base::FormatTimestamp(*request.since) + '"' : "null";
  return fmt::format(R"({{"check_id":"{}","row_id":"{}",{},"subject":{},"context":{},"known":{},)"
                     R"("window":{{"since":{},"until":"{}"}}}})",
                     request.check_id.ToString(), request.row_id.ToString(), monitor_members,
                     request.subject.Text(), request.context.Text(), request.known.Text(), since,
                     base::FormatTimestamp(request.until));
}

std::optional<std::string> ReadFieldObservation(const std::string& name, const base::Json& entry,
                                                FieldObservation* out) {
  if (!entry.is_object()) {
    return fmt::format("values['{}'] is not an object with a value", name);
  }
  const auto value = entry.find("value");
  if (value == entry.end()) return fmt::format("values['{}'] has no value", name);
  if (value->is_structured()) return fmt::format("the value of '{}' is not a scalar", name);
  if (value->is_string() && value->get_ref<const std::string&>().size() > domain::kValueBytesMax) {
    return fmt::format("the value of '{}' is longer than {} bytes", name, domain::kValueBytesMax);
  }
  out->value = *value;
  if (const base::Json* evidence = base::PresentMember(entry, "evidence")) {
    if (!evidence->is_string()) return fmt::format("the evidence of '{}' is not a string", name);
    out->evidence =
        base::CutCharacters(evidence->get_ref<const std::string&>(), kAnswerEvidenceCharactersMax);
  }
  if (const base::Json* sources = base::PresentMember(entry, "sources")) {
    if (!sources->is_array()) return fmt::format("the sources of '{}' are not an array", name);
    for (const base::Json& source : *sources) {
      if (!source.is_string()) return fmt::format("a source of '{}' is not a string", name);
      const auto& url = source.get_ref<const std::string&>();
      if (url.size() > kAnswerSourceBytesMax || out->sources.size() == kAnswerSourcesMax) continue;
      out->sources.push_back(url);
    }
  }
  if (const base::Json* confidence = base::PresentMember(entry, "confidence")) {
    if (!confidence->is_number())
      return fmt::format("the confidence of '{}' is not a number", name);
    out->confidence = confidence->get<double>();
  }
  return std::nullopt;
}

ProbeResult ParseResearchAnswer(std::string_view body, const ProbeSpec& spec) {
  base::Json answer;
  if (const auto error = base::ParseJson(body, &answer, kAnswerLimits)) {
    return Invalid(fmt::format("it is not JSON ({})", error->message));
  }
  if (!answer.is_object()) return Invalid("it is not an object");
  const auto values = answer.find("values");
  if (values == answer.end() || !values->is_object()) return Invalid("values is not an object");
  Observation observation;
  for (const WatchedField& field : spec.watched) {
    const auto entry = values->find(field.name);
    if (entry == values->end()) continue;
    FieldObservation observed;
    if (const auto fault = ReadFieldObservation(field.name, *entry, &observed))
      return Invalid(*fault);
    observation.fields.insert_or_assign(field.name, std::move(observed));
  }
  return observation;
}

namespace {

// Monitors whose part of the request is kept, and of what length together.
constexpr std::size_t kMonitorsKeptMax = 256;
constexpr std::size_t kMembersKeptBytesMax = 4 << 20;

}  // namespace

struct HttpProbe::Impl {
  Impl(base::EventLoop& loop, net::HttpClient& client, const ServiceBudgets& budgets,
       const base::Clock& clock, const config::ProbeConfig& config)
      : caller(loop, client, budgets, clock,
               {config.url, config.api_key, config.signing_secret, config.body_bytes_max,
                "research service"}) {}

  std::string Body(const ProbeRequest& request);

  SpecCache<std::string> monitor_members{kMonitorsKeptMax, kMembersKeptBytesMax};
  ServiceCaller caller;
};

std::string HttpProbe::Impl::Body(const ProbeRequest& request) {
  if (const auto kept = monitor_members.Find(request.spec)) {
    return ResearchRequestBody(request, *kept);
  }
  auto members = std::make_shared<const std::string>(ResearchMonitorMembers(*request.spec));
  monitor_members.Keep(request.spec, members, members->size());
  return ResearchRequestBody(request, *members);
}

HttpProbe::HttpProbe(base::EventLoop& loop, net::HttpClient& client, const ServiceBudgets& budgets,
                     const base::Clock& clock, const config::ProbeConfig& config)
    : impl_(std::make_unique<Impl>(loop, client, budgets, clock, config)) {}

HttpProbe::~HttpProbe() = default;

void HttpProbe::Start(ProbeRequest request, std::function<void(ProbeResult)> done) {
  ServiceQuestion question;
  question.org_id = request.org_id;
  question.idempotency_key = request.check_id;
  question.timeout = request.timeout;
  question.room_wait_max = request.deadline_left;
  question.turn_wait_max = kTurnWaitMax;
  question.on_turn = request.on_turn;
  const auto shared = std::make_shared<const ProbeRequest>(std::move(request));
  question.body = [impl = impl_.get(), shared] { return impl->Body(*shared); };
  impl_->caller.Ask(std::move(question), [shared, done = std::move(done)](ServiceAnswer answer) {
    if (auto* failure = std::get_if<domain::Failure>(&answer)) return done(std::move(*failure));
    done(ParseResearchAnswer(std::get<net::HttpResponse>(answer).body, *shared->spec));
  });
}

}  // namespace vedette::worker
