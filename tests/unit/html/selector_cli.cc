// For css_differential_test.py: what our selectors make of a page, to be compared with cssselect
// and lxml.
//   selector_cli paths PAGE    reads CSS selectors, one a line; prints the paths of all matches
//   selector_cli values PAGE   reads field descriptions, one a line; prints the value observed
// Each answer is a line of JSON: an array of paths, the value, or {"error": "..."}.
#include <libxml/HTMLparser.h>
#include <libxml/xpath.h>

#include <fstream>
#include <iostream>
#include <iterator>
#include <set>
#include <string>

#include "base/json.h"
#include "html/css_to_xpath.h"
#include "html/selector.h"

namespace vedette::html {
namespace {

using base::Json;

Json Paths(xmlDocPtr document, const std::string& css) {
  const auto translated = CssToXPath(css);
  if (const auto* error = std::get_if<SelectorSyntaxError>(&translated)) {
    return {{"error", error->message}};
  }
  std::set<std::string> paths;
  xmlXPathContextPtr context = xmlXPathNewContext(document);
  for (const std::string& expression : std::get<0>(translated)) {
    context->node = xmlDocGetRootElement(document);
    xmlXPathObjectPtr result =
        xmlXPathEval(reinterpret_cast<const xmlChar*>(expression.c_str()), context);
    if (result == nullptr) return {{"error", "the XPath expression fails: " + expression}};
    for (int i = 0; result->nodesetval != nullptr && i < result->nodesetval->nodeNr; ++i) {
      xmlChar* path = xmlGetNodePath(result->nodesetval->nodeTab[i]);
      paths.insert(reinterpret_cast<const char*>(path));
      xmlFree(path);
    }
    xmlXPathFreeObject(result);
  }
  xmlXPathFreeContext(context);
  return Json(paths);
}

Json Value(const FetchedPage& page, const std::string& description) {
  const auto compiled = FieldSet::Compile({{"field", description}});
  if (const auto* failure = std::get_if<domain::Failure>(&compiled)) {
    return {{"error", failure->message}};
  }
  ExtractionStop stop;
  const domain::ObservationResult result = std::get<FieldSet>(compiled).Extract(page, stop);
  if (const auto* failure = std::get_if<domain::Failure>(&result))
    return {{"error", failure->message}};
  return std::get<domain::Observation>(result).fields.at("field").value.Value();
}

int Main(const std::string& mode, const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const FetchedPage page{
      {std::istreambuf_iterator<char>(file), {}}, "text/html; charset=utf-8", path};
  xmlDocPtr document =
      htmlReadMemory(page.body.data(), static_cast<int>(page.body.size()), nullptr, "UTF-8",
                     HTML_PARSE_RECOVER | HTML_PARSE_NONET | HTML_PARSE_NOERROR |
                         HTML_PARSE_NOWARNING | HTML_PARSE_IGNORE_ENC);
  std::string line;
  while (std::getline(std::cin, line)) {
    const Json answer = mode == "paths" ? Paths(document, line) : Value(page, line);
    std::cout << base::DumpJson(answer) << "\n";
  }
  xmlFreeDoc(document);
  return 0;
}

}  // namespace
}  // namespace vedette::html

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  return vedette::html::Main(argv[1], argv[2]);
}
