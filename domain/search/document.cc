#include "domain/search/document.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "base/json.h"
#include "base/text.h"
#include "domain/limits.h"
#include "domain/name_table.h"

namespace vedette::domain::search {
namespace {

constexpr std::array<std::string_view, 4> kImportStateNames = {"receiving", "counting", "current",
                                                               "former"};

}  // namespace

std::string_view ImportStateName(ImportState state) {
  return NameIn(kImportStateNames, state);
}

std::variant<Document, std::string> ReadDocument(std::string_view line) {
  if (line.size() > kDocumentBytesMax) {
    return fmt::format("a document has at most {} bytes", kDocumentBytesMax);
  }
  base::Json object;
  if (auto error = base::ParseJson(line, &object, {.depth_max = kJsonDepthMax})) {
    return std::move(error->message);
  }
  if (!object.is_object()) return "a document is an object";
  const auto id = object.find("id");
  if (id == object.end() || !id->is_string()) return "a document has an id that is a string";
  const std::size_t chars = base::CountCharacters(id->get_ref<const std::string&>());
  if (chars < 1 || chars > kDocumentIdCharsMax) {
    return fmt::format("the id of a document has 1 to {} characters", kDocumentIdCharsMax);
  }
  return Document{id->get<std::string>(), base::DumpJson(object)};
}

}  // namespace vedette::domain::search
