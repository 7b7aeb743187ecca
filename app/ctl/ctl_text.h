#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json_text.h"

// Answers of the admin port as text for people. Pure. Names, reasons and answers of receivers were
// written by others: control and direction characters are replaced, so that they cannot steer a
// terminal.
namespace vedette::app {

// One line an item, its head first; "none" without items. A column is a key of the items; without
// columns every key of the first item is one. Long cells are cut.
std::string FormatTable(const base::Json& items, const std::vector<std::string_view>& columns);

// A list ({"items" or "rows": [...], "next_cursor"?}, or an array) as a table. Of another object,
// as is any with an "id", the plain members, one a line, members of members as "chunks.due"; behind
// them a table for each list of objects in it, whose columns go on below where a line of them would
// be too wide.
std::string FormatForPeople(const base::Json& answer, const std::vector<std::string_view>& columns);

// Why a server refused, in a sentence: its message, or what is wrong with each field, and the
// status.
std::string RefusalText(int status, const base::Json& body);

// What cannot steer a terminal.
std::string Printable(std::string_view text);

}  // namespace vedette::app
