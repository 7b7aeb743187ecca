// Whatever a tenant writes as a description, it compiles or is refused with a sentence, in bounded
// time; and a CSS selector that is taken makes XPath that libxml2 takes.
#include <cstdlib>
#include <string>

#include "base/json.h"
#include "base/text.h"
#include "domain/monitor/field_description.h"
#include "html/selector.h"
#include "tests/fuzz/target.h"

namespace vedette::html {

FUZZ_TARGET(description, bytes) {
  const std::string description(bytes);
  const auto compiled = FieldSet::Compile({{"f", description}});
  const auto kind = domain::ParseFieldDescription(description).kind;
  if (const auto* failure = std::get_if<domain::Failure>(&compiled)) {
    const bool prose = kind == domain::FieldDescription::Kind::kProse;
    if (failure->error_class != (prose ? "unsupported_description" : "bad_selector")) std::abort();
    if (failure->retryable) std::abort();
    return;
  }
  // Running any XPath could take the 100 million steps that it is given; these end soon.
  if (kind == domain::FieldDescription::Kind::kXPath || description.size() > 100) return;
  ExtractionStop stop;
  const auto result = std::get<FieldSet>(compiled).Extract(
      {"{\"a\": [1, {\"b\": null}], \"c\": \"<p class=x>1,5</p>\"}", "application/json",
       "https://x/"},
      stop);
  if (const auto* observation = std::get_if<domain::Observation>(&result)) {
    const base::Json& value = observation->fields.at("f").value.Value();
    if (value.is_structured()) std::abort();
    if (value.is_string() && !base::IsValidUtf8(value.get_ref<const std::string&>())) std::abort();
  }
}

}  // namespace vedette::html
