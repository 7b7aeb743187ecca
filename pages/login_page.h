#pragma once

#include <string_view>

#include "domain/observation.h"
#include "pages/html_document.h"
#include "pages/page_forms.h"
#include "pages/page_reading.h"

// Pages that a server shows in place of the one that was asked for, to have its reader log in. What
// is not found on such a page is not absent from the other one.
namespace vedette::pages {

// Whether a page in HTML has a field for a password.
bool AsksForPassword(PageForms* forms, ExtractionStop& stop);

// Whether who asked for `asked` was redirected to another page that wants a login: its path says so
// ("/login", "/account/sign-in.php"), or it asks for a password and some field was not found. Many
// pages that are open have a login of their own: on those everything is found. False where `asked`
// is a login page itself. Pure.
bool LeadsToLogin(std::string_view asked, const PageReading& reading);

// The failure of a check that was led there; names the address without its query.
domain::Failure LoginRequired(const PageReading& reading);

}  // namespace vedette::pages
