#pragma once

#include <functional>
#include <istream>

#include "app/json_client.h"
#include "base/json.h"

namespace vedette::app {

// One call of the route with this body. It throws RequestFailed where there is no answer.
using CallWithBody = std::function<JsonClient::Answer(const base::Json& body)>;

// Sends the lines of a file in batches, each as `body` with "lines", "first_line" and, at the end
// of the file, "last"; then repeats the last call until the import is counted. Where the server has
// some of the lines already, it goes on behind them. Without an "import_id" in `body` it makes one
// and tells it on standard error, so that a broken import can be gone on with. Returns the last
// answer, or the first one that refuses. A call without an answer, or with a 503, is tried again
// a few times, as a batch may be sent twice.
JsonClient::Answer SendLines(const CallWithBody& call, base::Json body, std::istream& file);

}  // namespace vedette::app
