#pragma once

#include <optional>
#include <string>
#include <string_view>

// Base64 with the URL's alphabet and without padding (RFC 4648, section 5), as JOSE writes it
// (RFC 7515, section 2). Pure.
namespace vedette::base {

std::string Base64UrlEncode(std::string_view data);

// Strict, so that a text has one spelling: empty for padding, white space, a character outside the
// alphabet, a length that no data has, and bits at the end that stand for nothing.
std::optional<std::string> Base64UrlDecode(std::string_view text);

}  // namespace vedette::base
