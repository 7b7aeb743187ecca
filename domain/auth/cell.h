#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace vedette::domain {

// Cells: fleets with a PostgreSQL each, over which organisations are spread. What a client holds
// names the cell that gave it out, so that a router finds it without a look at any database. The
// first cell has the empty id, and what it gives out names none:
//
//   vd_live_c2_<43 characters>   keys, tokens, sessions and invitations: behind their prefix
//   c2.<text>                    cursors
//   ...?token=...&cell=c2        links
//
// Pure.

inline constexpr std::size_t kCellCharsMax = 8;

// Whether the text may be a cell's id: 1 to kCellCharsMax lower-case letters and digits.
bool IsCellId(std::string_view text);

// What a sentence calls a cell: "the first cell", "cell c2".
std::string CellName(std::string_view cell);

// What a header or a parameter calls it: its id, or kFirstCell, which no cell can have. So a
// request can say that it is for the first one, whatever it shows.
inline constexpr std::string_view kFirstCell = "-";
std::string_view CellWord(std::string_view cell);
// The cell that such a word names; nothing where it names none.
std::optional<std::string_view> CellOfWord(std::string_view word);

// `prefix` with the cell behind it: what everything begins with that the cell gives out.
std::string CellPrefix(std::string_view prefix, std::string_view cell);

// The cell that a text names which is CellPrefix(prefix, cell) and `chars` base62 characters; empty
// for the first one, nothing where the text has another form.
std::optional<std::string_view> CellOfSecret(std::string_view text, std::string_view prefix,
                                             std::size_t chars);

// A cursor, in which no '.' stands, with the cell before it.
std::string WithCell(std::string_view cell, std::string_view text);

struct CellAndText {
  std::string_view cell;  // empty: the first one, or none that could be
  std::string_view text;
};
CellAndText SplitCell(std::string_view text);

// What a link with a query has at its end: the parameter kCellParameter, or nothing.
inline constexpr std::string_view kCellParameter = "cell";
std::string CellQuery(std::string_view cell);

// The address where members of the cell's organisations sign in; a page's "#/..." goes behind it.
std::string DashboardUrl(std::string_view public_url, std::string_view cell);

// The beginning of a monitor's address for people, before "/<id>": of its page in the dashboard,
// which asks them to sign in, or without a dashboard of what the API has. Empty without public_url.
std::string MonitorsUrl(std::string_view public_url, bool has_dashboard, std::string_view cell);

}  // namespace vedette::domain
