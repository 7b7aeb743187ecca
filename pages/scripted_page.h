#pragma once

#include <string>

#include "domain/failure.h"
#include "pages/html_document.h"
#include "pages/page_forms.h"

// Pages that a server sends empty, and that their scripts fill in a browser. No scripts are run
// here, so that what such a page shows can be neither seen nor said to be absent.
namespace vedette::pages {

// Whether a reader without scripts would see nothing of a page in HTML that has scripts.
bool IsMadeByScripts(PageForms* forms, ExtractionStop& stop);

// Why a field of such a page could not be read.
domain::Failure MadeByScripts(const std::string& field);

}  // namespace vedette::pages
