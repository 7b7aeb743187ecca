#pragma once

#include <span>
#include <string_view>

namespace vedette::store {

struct Migration {
  std::string_view file;  // "NNNN_what.sql"
  std::string_view text;
};

// The migrations that this binary knows, in order. They are in a library of their own, so that
// tests build a second binary that knows one more: the release after this one
// (tests/fleet/next_schema.cc).
std::span<const Migration> Migrations();

}  // namespace vedette::store
