#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "domain/monitor/failure.h"
#include "domain/monitor/observation.h"
#include "html/html_document.h"
#include "html/page_forms.h"
#include "net/http_client.h"

namespace vedette::html {

// What a reader sees of a page.
struct PageText {
  std::string url;                                 // the last one, after redirects
  std::string text;                                // folded; cut where it is long
  std::shared_ptr<const domain::SeenPage> kept{};  // as Observation::page
};

// What was made of a page.
struct PageReading {
  domain::ObservationResult result;
  std::optional<PageText> text;  // where it was asked for and the page could be read
  std::string url{};             // of the page that was read, the last one after redirects
  bool asks_for_password = false;
  // Nothing that is watched was found, and the page may show more in a browser.
  bool may_need_scripts = false;
};

// What it takes in memory, about.
std::size_t BytesOf(const PageReading& reading);

// What is kept of a page, to be compared with what it says later: its text without what is hidden,
// as Markdown has it (TextView::kMarkdown); of JSON its members on lines of their own, of other
// text its lines. Cut at domain::kSnapshotTextBytesMax, between two characters. Null where the page
// cannot be read. Parses it where that was not done yet: for a thread of a pool.
std::shared_ptr<const domain::SeenPage> SeenPageOf(PageForms* forms, const std::string& url);

// Whether an answer is a wall that a content delivery network puts before the page (a challenge for
// browsers, a captcha), whatever its status. Such a wall is no version of the page. Knows the usual
// marks in headers and in the body's beginning. Pure.
bool IsChallengePage(const net::HttpResponse& response);

// Pages that a server shows in place of the one that was asked for, to have its reader log in. What
// is not found on such a page is not absent from the other one.

// Whether a page in HTML has a field for a password.
bool AsksForPassword(PageForms* forms, ExtractionStop& stop);

// Whether who asked for `asked` was redirected to another page that wants a login: its path says so
// ("/login", "/account/sign-in.php"), or it asks for a password and some field was not found. Many
// pages that are open have a login of their own: on those everything is found. False where `asked`
// is a login page itself. Pure.
bool LeadsToLogin(std::string_view asked, const PageReading& reading);

// The failure of a check that was led there; names the address without its query.
domain::Failure LoginRequired(const PageReading& reading);

// Pages that a server sends empty, and that their scripts fill in a browser. Where they are not
// run, what such a page shows can be neither seen nor said to be absent.

// Whether a page in HTML may show more in a browser: it has scripts, or sends the browser on.
bool MayShowMore(PageForms* forms, ExtractionStop& stop);

// Whether a reader without scripts would see nothing of a page in HTML that has scripts.
bool IsMadeByScripts(PageForms* forms, ExtractionStop& stop);

// Why a field of such a page could not be read.
domain::Failure MadeByScripts(const std::string& field);

}  // namespace vedette::html
