// Whatever a research service or a model's server answers, only watched fields with scalars enter.
#include <cstdlib>
#include <string_view>

#include "base/text.h"
#include "tests/fuzz/target.h"
#include "worker/probes/http_probe.h"
#include "worker/probes/llm_probe.h"

namespace vedette::worker {
namespace {

void Check(const Observation& observation, const ProbeSpec& spec) {
  if (observation.fields.size() > spec.watched.size()) std::abort();
  for (const auto& [name, field] : observation.fields) {
    if (name != "a" && name != "b") std::abort();
    if (field.value.Value().is_structured()) std::abort();
    if (field.sources.size() > kAnswerSourcesMax + 1) std::abort();
  }
}

}  // namespace

FUZZ_TARGET(answer, body) {
  static const ProbeRequest request = [] {
    auto spec = std::make_shared<ProbeSpec>();
    spec->subject_type = domain::SubjectType::kCompany;
    spec->tier = domain::Tier::kLow;
    spec->watched = {{"a", "one"}, {"b", "other"}};
    ProbeRequest out;
    out.spec = std::move(spec);
    out.known = base::Json{{"a", 1}};
    return out;
  }();
  const auto researched = ParseResearchAnswer(body, *request.spec);
  if (const auto* seen = std::get_if<Observation>(&researched)) Check(*seen, *request.spec);
  const html::PageText page{"https://example.com/", "text"};
  for (const html::PageText* given : {&page, static_cast<const html::PageText*>(nullptr)}) {
    const ChatReading said = ReadChatAnswer(body, request, given);
    if (const auto* seen = std::get_if<Observation>(&said.result)) Check(*seen, *request.spec);
    if (said.tokens.prompt < 0 || said.tokens.completion < 0) std::abort();
  }
}

}  // namespace vedette::worker
