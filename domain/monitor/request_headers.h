#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json_text.h"

// Headers that a monitor's own pages are asked with, cookies included: {"name": "value"}. Their
// values are secrets of the customer: they are sealed where they are kept (store/sealed.h), never
// shown again, and sent to no other host than the row's own (html/url_reference.h). Pure.
namespace vedette::domain {

struct ValidationFault;  // domain/text/json_schema.h

using RequestHeaders = std::vector<std::pair<std::string, std::string>>;

inline constexpr std::size_t kRequestHeadersMax = 16;
inline constexpr std::size_t kRequestHeaderNameMax = 100;
inline constexpr std::size_t kRequestHeaderValueMax = 4096;
inline constexpr std::size_t kRequestHeadersBytesMax = 16384;  // names and values together

// What is wrong with `headers`, which stands at `loc`. No fault repeats a value.
std::vector<ValidationFault> ValidateRequestHeaders(const base::Json& loc,
                                                    const base::Json& headers);

// Reads headers that were validated, in the order in which they were given.
RequestHeaders ReadRequestHeaders(const base::Json& headers);
std::vector<std::string> NamesOf(const RequestHeaders& headers);
// The text that is sealed.
std::string RequestHeadersText(const RequestHeaders& headers);
// What was sealed; empty where it is not such a text.
std::optional<RequestHeaders> ParseRequestHeaders(const std::string& text);

}  // namespace vedette::domain
