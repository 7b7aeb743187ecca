#include "domain/monitor/request_headers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "base/json.h"
#include "base/text.h"
#include "domain/text/json_schema.h"

namespace vedette::domain {
namespace {

using base::Json;

// What the client of HTTP says itself, or what would change how an answer is read or remembered.
constexpr std::array<std::string_view, 19> kOurs{"accept-encoding",
                                                 "connection",
                                                 "content-length",
                                                 "content-type",
                                                 "expect",
                                                 "host",
                                                 "if-match",
                                                 "if-modified-since",
                                                 "if-none-match",
                                                 "if-range",
                                                 "if-unmodified-since",
                                                 "keep-alive",
                                                 "range",
                                                 "te",
                                                 "trailer",
                                                 "transfer-encoding",
                                                 "upgrade",
                                                 "user-agent",
                                                 "via"};

bool IsTokenCharacter(char c) {
  return base::IsAsciiLetter(c) || base::IsAsciiDigit(c) ||
         std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

std::optional<std::string> NameFault(const std::string& name) {
  if (name.empty() || name.size() > kRequestHeaderNameMax ||
      !std::all_of(name.begin(), name.end(), IsTokenCharacter)) {
    return fmt::format("A header's name has 1 to {} letters, digits and hyphens",
                       kRequestHeaderNameMax);
  }
  const std::string lower = base::AsciiLower(name);
  if (std::find(kOurs.begin(), kOurs.end(), lower) != kOurs.end() || lower.starts_with("proxy-")) {
    return "This header is not a monitor's to set";
  }
  return std::nullopt;
}

std::optional<std::string> ValueFault(const Json& value) {
  if (!value.is_string()) return "Input should be a string";
  const auto& text = value.get_ref<const std::string&>();
  if (text.size() > kRequestHeaderValueMax) {
    return fmt::format("A header's value has at most {} bytes", kRequestHeaderValueMax);
  }
  const auto sendable = [](char c) { return c == '\t' || (c >= ' ' && c <= '~'); };
  if (base::Trim(text).empty() || !std::all_of(text.begin(), text.end(), sendable)) {
    return "A header's value is one line of visible ASCII characters";
  }
  return std::nullopt;
}

}  // namespace

ValidationFaults ValidateRequestHeaders(const Json& loc, const Json& headers) {
  ValidationFaults faults;
  if (!headers.is_object()) {
    faults.push_back({loc, "dict_type", "Input should be an object: name -> value"});
    return faults;
  }
  if (headers.size() > kRequestHeadersMax) {
    faults.push_back({loc, "too_long",
                      fmt::format("Object should have at most {} headers, has {}",
                                  kRequestHeadersMax, headers.size())});
    return faults;
  }
  std::set<std::string> names;
  std::size_t bytes = 0;
  for (const auto& [name, value] : headers.items()) {
    Json at = loc;
    at.push_back(base::CutCharacters(base::RepairUtf8(name), kRequestHeaderNameMax));
    if (const auto fault = NameFault(name)) {
      faults.push_back({std::move(at), "header_name", *fault});
    } else if (!names.insert(base::AsciiLower(name)).second) {
      faults.push_back({std::move(at), "duplicate", "The header is named twice"});
    } else if (const auto wrong = ValueFault(value)) {
      faults.push_back({std::move(at), "header_value", *wrong});
    } else {
      bytes += name.size() + value.get_ref<const std::string&>().size();
    }
  }
  if (bytes > kRequestHeadersBytesMax) {
    faults.push_back({loc, "too_long",
                      fmt::format("The headers should have at most {} bytes together",
                                  kRequestHeadersBytesMax)});
  }
  return faults;
}

RequestHeaders ReadRequestHeaders(const Json& headers) {
  RequestHeaders read;
  for (const auto& [name, value] : headers.items()) {
    read.emplace_back(name, std::string(base::Trim(value.get_ref<const std::string&>())));
  }
  return read;
}

std::vector<std::string> NamesOf(const RequestHeaders& headers) {
  std::vector<std::string> names;
  for (const auto& [name, value] : headers) names.push_back(name);
  return names;
}

std::string RequestHeadersText(const RequestHeaders& headers) {
  Json object = Json::object();
  for (const auto& [name, value] : headers) object[name] = value;
  return base::DumpJson(object);
}

std::optional<RequestHeaders> ParseRequestHeaders(const std::string& text) {
  Json object;
  if (base::ParseJson(text, &object)) return std::nullopt;
  if (!ValidateRequestHeaders(Json::array(), object).empty()) return std::nullopt;
  return ReadRequestHeaders(object);
}

}  // namespace vedette::domain
