#include "pages/page_address.h"

#include <string_view>

#include "base/json.h"
#include "base/text.h"

namespace vedette::pages {
namespace {

std::string_view Value(const base::Json& columns, std::string_view name) {
  if (!columns.is_object()) return {};
  for (const auto& [key, value] : columns.items()) {
    if (!value.is_string() || base::AsciiLower(key) != name) continue;
    const std::string_view text = base::Trim(value.get_ref<const std::string&>());
    if (!text.empty()) return text;
  }
  return {};
}

}  // namespace

std::optional<std::string> PageAddress(const base::Json& subject, const base::Json& context) {
  for (const std::string_view name : {"url", "website", "domain"}) {
    for (const base::Json* columns : {&subject, &context}) {
      std::string_view value = Value(*columns, name);
      value = value.substr(0, value.find('#'));
      if (value.empty()) continue;
      if (value.starts_with("//")) return "https:" + std::string(value);
      const bool scheme = value.find("://") < value.find_first_of("/?");
      return scheme ? std::string(value) : "https://" + std::string(value);
    }
  }
  return std::nullopt;
}

}  // namespace vedette::pages
