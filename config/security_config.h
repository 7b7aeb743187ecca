#pragma once

#include <string>
#include <vector>

// Keys of [security] and [cell].
// config/parts.h says what all of it is.
namespace vedette::config {

struct SecurityConfig {
  // 32 bytes, decoded from 64 hex digits; empty when not set. Its id is the first 8 hex digits of
  // its SHA-256, computed where it is used.
  std::string encryption_key;
  // Former keys, for reading only.
  std::vector<std::string> encryption_keys_old;

  bool operator==(const SecurityConfig&) const = default;
};

// Which cell this fleet is: domain/auth/cell.h.
struct CellConfig {
  std::string id;  // empty: the first, or the only one

  bool operator==(const CellConfig&) const = default;
};

}  // namespace vedette::config
