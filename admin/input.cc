#include "admin/input.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <stdexcept>

#include "base/crypto.h"
#include "domain/limits.h"
#include "domain/money.h"

namespace vedette::admin {
namespace {

constexpr char kCursorVersion = '1';

// Characters of valid UTF-8.
std::int64_t CountChars(std::string_view text) {
  return std::count_if(text.begin(), text.end(),
                       [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
}

bool IsBlank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n\v\f") == std::string_view::npos;
}

bool IsJson(std::string_view content_type) {
  const std::string_view type = content_type.substr(0, content_type.find(';'));
  std::string lower;
  for (const char c : type) {
    if (c != ' ' && c != '\t') lower += static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  }
  return lower == "application/json";
}

}  // namespace

BodyReader::BodyReader(const net::ServerRequest& request) {
  if (request.body_too_large) {
    refusal_ = ErrorAnswer(413, "body_too_large", "the body is longer than this route accepts");
    return;
  }
  if (request.body.empty()) return;
  if (!IsJson(request.Header("content-type"))) {
    refusal_ = ErrorAnswer(415, "unsupported_media_type", "the body must be application/json");
    return;
  }
  if (const auto error = base::ParseJson(request.body, &body_)) {
    refusal_ = ErrorAnswer(400, "malformed_json", error->message);
  } else if (!body_.is_object()) {
    refusal_ = ErrorAnswer(400, "malformed_json", "the body must be a JSON object");
  }
  if (refusal_) body_ = base::Json::object();
}

void BodyReader::Add(std::string_view name, std::string_view type, std::string_view msg,
                     base::Json input) {
  invalid_.push_back({base::Json::array({"body", name}), std::string(msg), std::string(type),
                      std::move(input), nullptr});
}

const base::Json* BodyReader::Find(std::string_view name, Presence presence) {
  known_.emplace(name);
  const auto it = body_.find(name);
  if (it != body_.end()) return &*it;
  if (presence == Presence::kRequired) Add(name, "missing", "Field required", body_);
  return nullptr;
}

bool BodyReader::IsNull(std::string_view name) {
  known_.emplace(name);
  const auto it = body_.find(name);
  return it != body_.end() && it->is_null();
}

bool BodyReader::Has(std::string_view name) const {
  return body_.contains(name);
}

std::optional<std::string> BodyReader::Text(std::string_view name, Presence presence,
                                            int chars_max) {
  const base::Json* value = Find(name, presence);
  if (value == nullptr) return std::nullopt;
  if (!value->is_string()) {
    Add(name, "string_type", "Input should be a string", *value);
    return std::nullopt;
  }
  const auto& text = value->get_ref<const std::string&>();
  if (IsBlank(text) || CountChars(text) > chars_max) {
    Add(name, "string_length",
        fmt::format("Input should have 1 to {} characters and not be blank", chars_max), *value);
    return std::nullopt;
  }
  return text;
}

std::optional<bool> BodyReader::Bool(std::string_view name, Presence presence) {
  const base::Json* value = Find(name, presence);
  if (value == nullptr) return std::nullopt;
  if (!value->is_boolean()) {
    Add(name, "bool_type", "Input should be true or false", *value);
    return std::nullopt;
  }
  return value->get<bool>();
}

std::optional<base::Uuid> BodyReader::Id(std::string_view name, Presence presence) {
  const base::Json* value = Find(name, presence);
  if (value == nullptr) return std::nullopt;
  std::optional<base::Uuid> id;
  if (value->is_string()) id = base::Uuid::Parse(value->get_ref<const std::string&>());
  if (!id) Add(name, "uuid_parsing", "Input should be a UUID", *value);
  return id;
}

std::optional<base::Timestamp> BodyReader::Time(std::string_view name, Presence presence) {
  const base::Json* value = Find(name, presence);
  if (value == nullptr) return std::nullopt;
  try {
    if (value->is_string()) return base::ParseTimestamp(value->get_ref<const std::string&>());
  } catch (const std::invalid_argument&) {
    // Reported below, as any other wrong value.
  }
  Add(name, "datetime_parsing", "Input should be an RFC 3339 time", *value);
  return std::nullopt;
}

std::optional<std::int64_t> BodyReader::Credits(std::string_view name, Presence presence) {
  const base::Json* value = Find(name, presence);
  if (value == nullptr) return std::nullopt;
  const std::optional<std::int64_t> mc = domain::CreditsFromJson(*value);
  if (!mc) {
    Add(name, value->is_number() ? "value_error" : "float_type",
        "Input should be a number of credits with at most three decimals, at most 10^12", *value);
  }
  return mc;
}

std::optional<double> BodyReader::Number(std::string_view name, Presence presence, double min,
                                         double max) {
  const base::Json* value = Find(name, presence);
  if (value == nullptr) return std::nullopt;
  if (!value->is_number()) {
    Add(name, "float_type", "Input should be a number", *value);
    return std::nullopt;
  }
  const auto number = value->get<double>();
  if (!(number >= min && number <= max)) {
    Add(name, "value_error", fmt::format("Input should be between {} and {}", min, max), *value);
    return std::nullopt;
  }
  return number;
}

std::optional<std::vector<std::string>> BodyReader::Names(
    std::string_view name, Presence presence, const std::vector<std::string_view>& known) {
  const base::Json* value = Find(name, presence);
  if (value == nullptr) return std::nullopt;
  if (!value->is_array()) {
    Add(name, "list_type", "Input should be an array", *value);
    return std::nullopt;
  }
  std::vector<std::string> names;
  for (const base::Json& item : *value) {
    if (!item.is_string() ||
        std::find(known.begin(), known.end(), item.get_ref<const std::string&>()) == known.end()) {
      Add(name, "enum", fmt::format("Items should be among: {}", fmt::join(known, ", ")), item);
      return std::nullopt;
    }
    const auto& text = item.get_ref<const std::string&>();
    if (std::find(names.begin(), names.end(), text) == names.end()) names.push_back(text);
  }
  return names;
}

void BodyReader::Refuse(std::string_view name, std::string_view msg) {
  const auto it = body_.find(name);
  Add(name, "value_error", msg, it == body_.end() ? base::Json() : *it);
}

std::optional<Answer> BodyReader::Refusal() {
  if (refusal_) return refusal_;
  for (const auto& [name, value] : body_.items()) {
    if (!known_.contains(name)) {
      Add(name, "extra_forbidden", "Extra inputs are not permitted", value);
    }
  }
  if (invalid_.empty()) return std::nullopt;
  return InvalidAnswer(invalid_);
}

QueryReader::QueryReader(const net::ServerRequest& request) {
  try {
    pairs_ = net::ParseQuery(request.query);
  } catch (const std::invalid_argument& e) {
    refusal_ = ErrorAnswer(400, "malformed_query", e.what());
  }
}

std::optional<std::string> QueryReader::Text(std::string_view name) {
  for (const auto& [key, value] : pairs_) {
    if (key == name) return value;
  }
  return std::nullopt;
}

std::optional<base::Uuid> QueryReader::Id(std::string_view name) {
  const std::optional<std::string> text = Text(name);
  if (!text) return std::nullopt;
  const std::optional<base::Uuid> id = base::Uuid::Parse(*text);
  if (!id) Refuse(name, "uuid_parsing", "Input should be a UUID");
  return id;
}

int QueryReader::Limit() {
  return Limit(domain::kRowPageDefault, domain::kRowPageMax);
}

int QueryReader::Limit(int by_default, int max) {
  const std::optional<std::string> text = Text("limit");
  if (!text) return by_default;
  int limit = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), limit);
  if (error != std::errc() || end != text->data() + text->size() || limit < 1 || limit > max) {
    Refuse("limit", "int_parsing", fmt::format("Input should be an integer from 1 to {}", max));
    return by_default;
  }
  return limit;
}

void QueryReader::Refuse(std::string_view name, std::string_view type, std::string_view msg) {
  const std::optional<std::string> text = Text(name);
  invalid_.push_back({base::Json::array({"query", name}), std::string(msg), std::string(type),
                      text ? base::Json(*text) : base::Json(), nullptr});
}

std::optional<Answer> QueryReader::Refusal() {
  if (refusal_) return refusal_;
  if (invalid_.empty()) return std::nullopt;
  return InvalidAnswer(invalid_);
}

std::string MakeCursor(char kind, const base::Uuid& id) {
  return base::HexEncode(std::string{kCursorVersion, kind} +
                         std::string(id.bytes.begin(), id.bytes.end()));
}

std::string MakeCursor(char kind, base::Timestamp at, const base::Uuid& id) {
  std::string bytes{kCursorVersion, kind};
  bytes.append(id.bytes.begin(), id.bytes.end());
  const auto micros = static_cast<std::uint64_t>(at.time_since_epoch().count());
  for (int shift = 56; shift >= 0; shift -= 8) {
    bytes += static_cast<char>((micros >> shift) & 0xFF);
  }
  return base::HexEncode(bytes);
}

std::optional<Cursor> ReadCursor(char kind, std::string_view text) {
  const std::optional<std::string> bytes = base::HexDecode(text);
  if (!bytes || (bytes->size() != 18 && bytes->size() != 26)) return std::nullopt;
  if ((*bytes)[0] != kCursorVersion || (*bytes)[1] != kind) return std::nullopt;
  Cursor cursor;
  std::copy_n(bytes->begin() + 2, 16, cursor.id.bytes.begin());
  std::uint64_t micros = 0;
  for (std::size_t i = 18; i < bytes->size(); ++i) {
    micros = (micros << 8) | static_cast<unsigned char>((*bytes)[i]);
  }
  // Beyond what PostgreSQL's timestamps hold: forged.
  constexpr std::uint64_t kMicrosMax = 253'402'300'800'000'000;
  if (micros > kMicrosMax) return std::nullopt;
  cursor.at = base::Timestamp(std::chrono::microseconds(micros));
  return cursor;
}

Answer BadCursor() {
  return ErrorAnswer(400, "invalid_cursor", "the cursor is not one that this list gave out");
}

}  // namespace vedette::admin
