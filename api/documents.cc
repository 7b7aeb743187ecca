#include "api/documents.h"

#include <stdexcept>
#include <string>
#include <utility>

namespace vedette::api {
namespace {

// The rendered page is longer than the literal that every compiler has to take; those in use take
// it.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Woverlength-strings"
constexpr std::pair<std::string_view, std::string_view> kFiles[] = {
#include "api_documents.inc"
};
#pragma GCC diagnostic pop

std::string_view File(std::string_view name) {
  for (const auto& [file, text] : kFiles) {
    if (file == name) return text;
  }
  throw std::logic_error("no document is named " + std::string(name));
}

}  // namespace

std::string_view OpenApiJson() {
  return File("openapi.json");
}

std::string_view DocsHtml() {
  return File("docs.html");
}

std::string_view DocsPolicy() {
  return File("docs.policy");
}

}  // namespace vedette::api
