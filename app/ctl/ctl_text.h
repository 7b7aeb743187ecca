#pragma once

#include <functional>
#include <istream>
#include <string>
#include <string_view>
#include <vector>

#include "app/ctl/ctl_commands.h"
#include "app/json_client.h"
#include "base/json.h"
#include "base/json_text.h"

namespace vedette::app {

// One call of the route with this body. It throws RequestFailed where there is no answer.
using CallWithBody = std::function<JsonClient::Answer(const base::Json& body)>;

// Sends the lines of a file in batches, each as `body` with "lines", "first_line" and, at the end
// of the file, "last"; then repeats the last call until the import is counted. Where the server has
// some of the lines already, it goes on behind them. Without an "import_id" in `body` it makes one
// and tells it on standard error, so that a broken import can be gone on with. Returns the last
// answer, or the first one that refuses. A call without an answer, or with a 503, is tried again
// a few times, as a batch may be sent twice. Throws RequestFailed where the file cannot be read to
// its end, or has blank lines alone and may not be empty; the server then replaces nothing.
JsonClient::Answer SendLines(const CallWithBody& call, base::Json body, std::istream& file,
                             bool may_be_empty);

// The answer to a GET of this target of the admin port. Throws RequestFailed otherwise.
using AskAdmin = std::function<base::Json(const std::string& target)>;

// Puts ids in place of the names of organisations, monitors and teams among what was given, so that
// commands take either. A name counts where it is written out in full, and only one thing has it;
// else RequestFailed says which there are. What has the form of an id is taken for one.
void ResolveNames(const CtlCommand& command, const AskAdmin& ask, CtlValues* values);

// Answers of the admin port as text for people. Pure. Names, reasons and answers of receivers were
// written by others: control and direction characters are replaced, so that they cannot steer a
// terminal.

// One line an item, its head first; "none" without items. A column is a key of the items,
// "failure.message" of an object's object; without columns every key is one. Long cells are cut,
// but no "error".
std::string FormatTable(const base::Json& items, const std::vector<std::string_view>& columns);

// A list ({"items" or "rows": [...], "next_cursor"?}, or an array) as a table. Of another object,
// as is any with an "id", the plain members, one a line, members of members as "chunks.due"; behind
// them a table for each list of objects in it, whose columns go on below where a line of them would
// be too wide.
std::string FormatForPeople(const base::Json& answer, const std::vector<std::string_view>& columns);

// The answer as JSON text of several lines and of ASCII alone, with its numbers as they came. Pure.
std::string IndentedJson(const base::Json& answer);

// Why a server refused, in a sentence: its message, or what is wrong with each field, and the
// status.
std::string RefusalText(int status, const base::Json& body);

// What cannot steer a terminal.
std::string Printable(std::string_view text);

struct NamedThing {
  std::string id;
  std::string name;
};

// The id of the one of these that has this name, written out in full. Throws RequestFailed with the
// ids of several, or the names that there are. `word`: what they are, "organisation".
std::string IdOfNamed(std::string_view word, const std::string& name,
                      const std::vector<NamedThing>& candidates);

}  // namespace vedette::app
