#pragma once

#include "net/http_client.h"

namespace vedette::pages {

// Whether an answer is a wall that a content delivery network puts before the page (a challenge for
// browsers, a captcha), whatever its status. Such a wall is no version of the page. Knows the usual
// marks in headers and in the body's beginning. Pure.
bool IsChallengePage(const net::HttpResponse& response);

}  // namespace vedette::pages
