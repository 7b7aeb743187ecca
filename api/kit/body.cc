#include "api/kit/body.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/json.h"
#include "base/text.h"
#include "domain/money/money.h"
#include "domain/text/json_schema.h"

namespace vedette::rest {
namespace {

constexpr std::size_t kSmallBodyBytes = std::size_t{64} << 10;
// What an element costs beside its text: its strings, their headers, its place in vectors, its id
// and answer.
constexpr std::size_t kElementCostBytes = 320;
constexpr std::size_t kValueCostBytes = 100;

// The media type in lower case, without blanks.
std::string Folded(std::string_view header) {
  std::string folded;
  for (const char c : header) {
    if (!base::IsSpace(c, base::kBlankSpace)) folded += base::AsciiLower(c);
  }
  return folded;
}

bool IsJsonType(std::string_view type) {
  const std::string_view essence = type.substr(0, type.find(';'));
  if (essence.empty() || essence == "application/json") return true;
  return essence.starts_with("application/") && essence.ends_with("+json");
}

bool IsUtf8Type(std::string_view type) {
  const std::size_t charset = type.find("charset=");
  if (charset == std::string_view::npos) return true;
  const std::string_view name = type.substr(charset + 8);
  return name.starts_with("utf-8") || name.starts_with("\"utf-8\"");
}

Refusal UnsupportedType(std::string_view header, std::string_view value, std::string_view why) {
  return {415, "unsupported_media_type", fmt::format("{} {} {}", header, Quoted(value), why)};
}

Reply Unparsed(const base::JsonError& error) {
  using Kind = base::JsonError::Kind;
  const bool members = error.kind == Kind::kTooManyMembers;
  if (!members && error.kind != Kind::kTooManyValues) {
    return ErrorReply(400, "malformed_json", "the body cannot be read: " + error.message);
  }
  return ValidationReply(base::Json::array({"body"}),
                         members ? "too_many_members" : "too_many_values", error.message);
}

}  // namespace

void CheckCoding(const net::ServerRequest& request) {
  const std::string_view coding = request.Header("content-encoding");
  if (coding.empty() || Folded(coding) == "identity") return;
  throw UnsupportedType("Content-Encoding", coding, "is not taken: send the body uncompressed");
}

void CheckBody(const net::ServerRequest& request, const BodyRules& rules) {
  if (request.body_too_large) {
    throw Refusal(413, "body_too_large",
                  fmt::format("the body is over {} bytes{}", rules.bytes_max, rules.advice));
  }
  const bool absent = request.body.empty() && rules.absent == BodyRules::Absent::kEmptyObject;
  if (absent) return;
  CheckCoding(request);
  const std::string_view type = request.Header("content-type");
  const std::string folded = Folded(type);
  if (!IsJsonType(folded)) {
    throw UnsupportedType("Content-Type", type, "is not application/json");
  }
  if (!IsUtf8Type(folded)) {
    throw UnsupportedType("Content-Type", type, "has another charset than utf-8: send UTF-8");
  }
}

std::optional<base::JsonError> ParseBody(std::string_view text, const BodyRules& rules,
                                         JsonBody* out) {
  if (rules.large_member.empty()) return base::ParseJson(text, &out->members, rules.json);
  return base::ParseJsonApart(text, rules.large_member, rules.elements_max, &out->members,
                              &out->elements, rules.json);
}

JsonBody ReadJsonBody(const net::ServerRequest& request, const BodyRules& rules) {
  CheckBody(request, rules);
  JsonBody body;
  if (request.body.empty() && rules.absent == BodyRules::Absent::kEmptyObject) return body;
  if (const auto error = ParseBody(request.body, rules, &body)) throw Refusal(Unparsed(*error));
  if (!body.members.is_object()) {
    throw Refusal(400, "malformed_json", "the body is not a JSON object");
  }
  return body;
}

std::size_t ParseCost(std::string_view text, const BodyRules& rules) {
  if (text.size() <= kSmallBodyBytes) return 0;
  const auto objects = static_cast<std::size_t>(std::count(text.begin(), text.end(), '{'));
  return text.size() + std::min(objects, rules.elements_max) * kElementCostBytes +
         std::min(rules.json.values_max, text.size()) * kValueCostBytes;
}

BodyReader::BodyReader(const base::Json& body, Problems* problems)
    : body_(body), problems_(problems), nulls_(Nulls::kAbsent) {}

BodyReader::BodyReader(const net::ServerRequest& request, const BodyRules& rules, Nulls nulls)
    : own_body_(ReadJsonBody(request, rules)),
      body_(own_body_.members),
      problems_(&own_problems_),
      nulls_(nulls) {}

bool BodyReader::Has(std::string_view name) {
  known_.emplace(name);
  return body_.contains(name);
}

bool BodyReader::IsNull(std::string_view name) {
  known_.emplace(name);
  const auto it = body_.find(name);
  return it != body_.end() && it->is_null();
}

const base::Json* BodyReader::Member(std::string_view name, Presence presence) {
  known_.emplace(name);
  const auto it = body_.find(name);
  if (it != body_.end() && (nulls_ == Nulls::kWrong || !it->is_null())) return &*it;
  if (presence == Presence::kRequired) problems_->Add(Loc(name), "missing", "Field required");
  return nullptr;
}

void BodyReader::Wrong(std::string_view name, std::string_view type, std::string_view msg,
                       const base::Json& value, const base::Json& ctx) {
  const base::Json hidden;
  problems_->Add(Loc(name), type, msg, has_secret_ ? hidden : value, ctx);
}

std::optional<std::string> BodyReader::Text(std::string_view name, Presence presence,
                                            std::size_t chars_min, std::size_t chars_max) {
  const base::Json* value = Member(name, presence);
  if (value == nullptr) return std::nullopt;
  if (!value->is_string()) {
    Wrong(name, "string_type", "Input should be a string", *value);
    return std::nullopt;
  }
  const auto& text = value->get_ref<const std::string&>();
  const std::size_t chars = base::CountCharacters(text);
  if (chars < chars_min) {
    Wrong(name, "string_too_short",
          fmt::format("String should have at least {} character(s)", chars_min), *value,
          {{"min_length", chars_min}});
    return std::nullopt;
  }
  if (chars > chars_max) {
    Wrong(name, "string_too_long",
          fmt::format("String should have at most {} characters, has {}", chars_max, chars), *value,
          {{"max_length", chars_max}});
    return std::nullopt;
  }
  return text;
}

std::optional<std::string> BodyReader::Secret(std::string_view name, Presence presence,
                                              std::size_t chars_min, std::size_t chars_max) {
  has_secret_ = true;
  return Text(name, presence, chars_min, chars_max);
}

std::optional<std::string> BodyReader::FilledText(std::string_view name, Presence presence,
                                                  std::size_t chars_max) {
  std::optional<std::string> text = Text(name, presence, 1, chars_max);
  if (text && base::Trim(*text).empty()) {
    Wrong(name, "string_too_short", "String should not be blank", *text);
    return std::nullopt;
  }
  return text;
}

std::optional<int> BodyReader::Integer(std::string_view name, Presence presence, int min, int max) {
  const base::Json* value = Member(name, presence);
  if (value == nullptr) return std::nullopt;
  const auto integer = domain::IntegerOf(*value);
  if (!integer) {
    Wrong(name, "int_type", "Input should be an integer", *value);
    return std::nullopt;
  }
  if (*integer > max) {
    Wrong(name, "less_than_equal", fmt::format("Input should be less than or equal to {}", max),
          *value, {{"le", max}});
    return std::nullopt;
  }
  if (*integer < min) {
    Wrong(name, "greater_than_equal",
          fmt::format("Input should be greater than or equal to {}", min), *value, {{"ge", min}});
    return std::nullopt;
  }
  return static_cast<int>(*integer);
}

std::optional<double> BodyReader::Number(std::string_view name, Presence presence, double min,
                                         double max) {
  const base::Json* value = Member(name, presence);
  if (value == nullptr) return std::nullopt;
  if (!value->is_number()) {
    Wrong(name, "float_type", "Input should be a number", *value);
    return std::nullopt;
  }
  const auto number = value->get<double>();
  if (number >= min && number <= max) return number;
  Wrong(name, "value_error", fmt::format("Input should be between {} and {}", min, max), *value);
  return std::nullopt;
}

std::optional<bool> BodyReader::Boolean(std::string_view name, Presence presence) {
  const base::Json* value = Member(name, presence);
  if (value == nullptr) return std::nullopt;
  if (value->is_boolean()) return value->get<bool>();
  Wrong(name, "bool_type", "Input should be true or false", *value);
  return std::nullopt;
}

std::optional<base::Uuid> BodyReader::Id(std::string_view name, Presence presence) {
  const base::Json* value = Member(name, presence);
  if (value == nullptr) return std::nullopt;
  std::optional<base::Uuid> id;
  if (value->is_string()) id = base::Uuid::Parse(value->get_ref<const std::string&>());
  if (!id) Wrong(name, "uuid_parsing", "Input should be a UUID", *value);
  return id;
}

std::optional<base::Timestamp> BodyReader::Time(std::string_view name, Presence presence) {
  const base::Json* value = Member(name, presence);
  if (value == nullptr) return std::nullopt;
  try {
    if (value->is_string()) return base::ParseTimestamp(value->get_ref<const std::string&>());
  } catch (const std::invalid_argument&) {
    // It is reported below, as any other wrong value.
  }
  Wrong(name, "datetime_parsing",
        "Input should be an RFC 3339 time, without a leap second and in UTC of the years 0 to 9999",
        *value);
  return std::nullopt;
}

std::optional<std::int64_t> BodyReader::Credits(std::string_view name, Presence presence) {
  const base::Json* value = Member(name, presence);
  if (value == nullptr) return std::nullopt;
  const std::optional<std::int64_t> mc = domain::CreditsFromJson(*value);
  if (!mc) {
    Wrong(name, value->is_number() ? "value_error" : "float_type",
          "Input should be a number of credits with at most three decimals, at most 10^12", *value);
  }
  return mc;
}

std::optional<std::string> BodyReader::Object(std::string_view name, Presence presence,
                                              std::size_t bytes_max) {
  const base::Json* value = Member(name, presence);
  if (value == nullptr) return std::nullopt;
  if (!value->is_object()) {
    Wrong(name, "dict_type", "Input should be an object", *value);
    return std::nullopt;
  }
  std::string text = base::DumpJson(*value);
  if (text.size() > bytes_max) {
    Wrong(name, "too_long",
          fmt::format("The object should have at most {} bytes as JSON, has {}", bytes_max,
                      text.size()),
          *value, {{"max_length", bytes_max}});
    return std::nullopt;
  }
  return text;
}

std::optional<std::vector<std::string>> BodyReader::Texts(std::string_view name,
                                                          Presence presence) {
  const base::Json* value = Member(name, presence);
  if (value == nullptr) return std::nullopt;
  if (!value->is_array()) {
    Wrong(name, "list_type", "Input should be an array of strings", *value);
    return std::nullopt;
  }
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < value->size(); ++i) {
    const base::Json& element = (*value)[i];
    if (element.is_string()) {
      texts.push_back(element.get<std::string>());
    } else {
      problems_->Add(base::Json::array({"body", name, i}), "string_type",
                     "Input should be a string", element);
    }
  }
  if (texts.size() != value->size()) return std::nullopt;
  return texts;
}

std::optional<std::vector<std::string>> BodyReader::Names(
    std::string_view name, Presence presence, const std::vector<std::string_view>& known) {
  const auto texts = Texts(name, presence);
  if (!texts) return std::nullopt;
  std::vector<std::string> names;
  for (const std::string& text : *texts) {
    if (std::find(known.begin(), known.end(), text) == known.end()) {
      Wrong(name, "enum", fmt::format("Items should be among: {}", fmt::join(known, ", ")), text);
      return std::nullopt;
    }
    if (std::find(names.begin(), names.end(), text) == names.end()) names.push_back(text);
  }
  return names;
}

void BodyReader::RefuseNull(std::string_view name, std::string_view kind) {
  if (!IsNull(name)) return;
  Wrong(name, fmt::format("{}_type", kind),
        fmt::format("Input should not be null; leave {} out to keep it", name), nullptr);
}

void BodyReader::Refuse(std::string_view name, std::string_view msg) {
  const auto it = body_.find(name);
  Wrong(name, "value_error", std::string(msg), it == body_.end() ? base::Json() : *it);
}

void BodyReader::Finish() {
  for (const auto& [name, value] : body_.items()) {
    if (known_.contains(name)) continue;
    Wrong(Shortened(name).get<std::string>(), "extra_forbidden", "There is no such field", value);
  }
}

void BodyReader::Check() {
  Finish();
  problems_->Check();
}

}  // namespace vedette::rest
