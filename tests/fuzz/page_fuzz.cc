// Whatever bytes a page is made of, reading it ends, and what is observed is text that can be
// stored.
#include <cstdlib>
#include <string>

#include "base/json.h"
#include "base/text.h"
#include "html/selector.h"
#include "tests/fuzz/target.h"

namespace vedette::html {

FUZZ_TARGET(page, bytes) {
  static const FieldSet html = std::get<FieldSet>(FieldSet::Compile({
      {"css", "css:body > * a[href]:not(.x) | text"},
      {"all", "css:p, td, li @title | all"},
      {"number", "css:p | number"},
      {"xpath", "xpath:string(//a/@href)"},
      {"regex", "regex:(?i)<a\\s+href=(?P<value>[^>]*)>"},
      {"meta", "meta:description"},
      {"canonical", "meta:canonical"},
      {"text", "text"},
  }));
  static const FieldSet json = std::get<FieldSet>(FieldSet::Compile({{"json", "json:$..a[-1:]"}}));
  // The first byte says what the header claims.
  constexpr const char* kTypes[] = {"text/html",        "text/html; charset=utf-16",  "text/plain",
                                    "application/json", "text/html; charset=gb18030", ""};
  const std::size_t type =
      bytes.empty() ? 0 : static_cast<unsigned char>(bytes[0]) % std::size(kTypes);
  const FetchedPage page{std::string(bytes.substr(bytes.empty() ? 0 : 1)), kTypes[type],
                         "https://example.com/a/b"};
  for (const FieldSet* fields : {&html, &json}) {
    ExtractionStop stop;
    const PageReading reading = fields->Read(page, stop, 100);
    if (const auto* failure = std::get_if<domain::Failure>(&reading.result)) {
      if (!base::IsValidUtf8(failure->message) || failure->retryable) std::abort();
      continue;
    }
    if (!reading.text || reading.text->text.size() > 100) std::abort();
    for (const auto& [name, field] : std::get<domain::Observation>(reading.result).fields) {
      if (!field.value.Value().is_primitive() || !base::IsValidUtf8(field.evidence)) std::abort();
      if (!field.value.Value().is_string()) continue;
      const auto& text = field.value.Value().get_ref<const std::string&>();
      if (text.size() > domain::kValueBytesMax || !base::IsValidUtf8(text)) std::abort();
      if (text.find('\0') != std::string::npos) std::abort();
    }
  }
}

}  // namespace vedette::html
