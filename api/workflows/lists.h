#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "api/call.h"
#include "rest/cursor.h"

// The lists of workflows and of runs, which are answered as arrays: where a page of one ends stands
// in a header.
namespace vedette::api {

inline constexpr std::string_view kNextCursor = "X-Next-Cursor";

// A list's letter stays for good: clients keep cursors.
inline rest::CursorOf WorkflowsOf(const base::Uuid& org_id) {
  return {'g', org_id};
}
inline rest::CursorOf RunsOf(const base::Uuid& org_id) {
  return {'u', org_id};
}

// Answers with this array, whose bytes are taken from the process's budget.
rest::Handled SendArray(Call& call, std::string text, std::optional<std::string> next_cursor);

}  // namespace vedette::api
