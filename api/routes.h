#pragma once

#include <span>
#include <string_view>

#include "api/call.h"
#include "domain/names.h"
#include "rest/router.h"

// The one table of routes: it serves dispatch, 404 and 405, body limits, metric labels and the test
// that holds it against the document (openapi/).
namespace vedette::api {

// What a request must show.
enum class Access {
  kCredential,  // an API key or a token
  kManagement,  // one of the whole organisation that may manage OAuth clients
  kAssertion,   // a client's assertion, in its body: the handler judges it, and has no caller
  kSignedLink,  // a link that was given out: likewise
};

struct Route : rest::RouteHead {
  // Null for a document that is served to everybody.
  Handler handler = nullptr;
  // What the organisation must have, or none.
  std::string_view feature = domain::kFeatureMonitors;
  Access access = Access::kCredential;
};

std::span<const Route> Routes();
const rest::Router<Route>& Router();

}  // namespace vedette::api
