#include "pages/scripted_page.h"

#include <fmt/format.h>

namespace vedette::pages {
namespace {

// Scripts that run, and not data in their place.
constexpr const char* kScripts =
    "//script[not(@type) or @type='' or @type='module' or contains(@type, 'javascript')]";

}  // namespace

bool IsMadeByScripts(PageForms* forms, ExtractionStop& stop) {
  if (forms->IsJson() || forms->IsXml()) return false;
  const HtmlDocument* document = forms->Html();
  if (document == nullptr || !document->VisibleText().empty()) return false;
  return document->First({kScripts}, false, "", stop).kind == HtmlFinding::Kind::kFound;
}

domain::Failure MadeByScripts(const std::string& field) {
  return {"made_by_scripts",
          fmt::format("The page shows nothing until its scripts have run, and they are not run "
                      "here, so that the field '{}' cannot be read. Where its scripts fetch data "
                      "in JSON, that address can be watched with json:.",
                      field),
          false,
          {}};
}

}  // namespace vedette::pages
