#include "api/fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <stdexcept>

#include "api/limits.h"
#include "net/http_server.h"

namespace vedette::api {
namespace {

constexpr std::size_t kItemsMax = 100;

}  // namespace

std::size_t CharCount(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

std::optional<base::JsonError> ParseBody(std::string_view text, int rows_max, JsonBody* out) {
  return base::ParseJsonApart(text, "rows", static_cast<std::size_t>(rows_max), &out->members,
                              &out->rows, {.values_max = kBodyValuesMax, .keep_numbers = true});
}

std::optional<base::JsonError> ParseRow(std::string_view text, base::Json* out) {
  return base::ParseJson(text, out, {.values_max = kRowValuesMax, .keep_numbers = true});
}

void Problems::Add(base::Json loc, std::string_view type, std::string msg, const base::Json& input,
                   base::Json ctx) {
  if (full()) return;
  items_.push_back(
      {std::move(loc), std::move(msg), std::string(type), Shortened(input), std::move(ctx)});
}

bool Problems::full() const {
  return items_.size() >= kItemsMax;
}

BodyReader::BodyReader(const base::Json& body, Problems* problems)
    : body_(body), problems_(problems) {}

bool BodyReader::Has(std::string_view name) {
  known_.emplace(name);
  return body_.contains(name);
}

bool BodyReader::IsNull(std::string_view name) {
  known_.emplace(name);
  const auto it = body_.find(name);
  return it != body_.end() && it->is_null();
}

const base::Json* BodyReader::Member(std::string_view name, bool required) {
  known_.emplace(name);
  const auto it = body_.find(name);
  if (it != body_.end() && !it->is_null()) return &*it;
  if (required) problems_->Add(Loc(name), "missing", "Field required");
  return nullptr;
}

std::optional<std::string> BodyReader::Text(std::string_view name, bool required,
                                            std::size_t chars_min, std::size_t chars_max) {
  const base::Json* value = Member(name, required);
  if (value == nullptr) return std::nullopt;
  if (!value->is_string()) {
    problems_->Add(Loc(name), "string_type", "Input should be a string", *value);
    return std::nullopt;
  }
  const auto& text = value->get_ref<const std::string&>();
  const std::size_t chars = CharCount(text);
  if (chars < chars_min) {
    problems_->Add(Loc(name), "string_too_short",
                   fmt::format("String should have at least {} character(s)", chars_min), *value,
                   {{"min_length", chars_min}});
    return std::nullopt;
  }
  if (chars > chars_max) {
    problems_->Add(
        Loc(name), "string_too_long",
        fmt::format("String should have at most {} characters, has {}", chars_max, chars), *value,
        {{"max_length", chars_max}});
    return std::nullopt;
  }
  return text;
}

std::optional<int> BodyReader::Integer(std::string_view name, int min, int max) {
  const base::Json* value = Member(name, false);
  if (value == nullptr) return std::nullopt;
  if (!value->is_number_integer()) {
    problems_->Add(Loc(name), "int_type", "Input should be an integer", *value);
    return std::nullopt;
  }
  const bool huge = value->is_number_unsigned() && value->get<std::uint64_t>() > 1'000'000'000;
  if (huge || value->get<std::int64_t>() > max) {
    problems_->Add(Loc(name), "less_than_equal",
                   fmt::format("Input should be less than or equal to {}", max), *value,
                   {{"le", max}});
    return std::nullopt;
  }
  if (value->get<std::int64_t>() < min) {
    problems_->Add(Loc(name), "greater_than_equal",
                   fmt::format("Input should be greater than or equal to {}", min), *value,
                   {{"ge", min}});
    return std::nullopt;
  }
  return value->get<int>();
}

std::optional<bool> BodyReader::Boolean(std::string_view name, bool required) {
  const base::Json* value = Member(name, required);
  if (value == nullptr) return std::nullopt;
  if (!value->is_boolean()) {
    problems_->Add(Loc(name), "bool_type", "Input should be true or false", *value);
    return std::nullopt;
  }
  return value->get<bool>();
}

std::optional<std::string> BodyReader::Object(std::string_view name, std::size_t bytes_max) {
  const base::Json* value = Member(name, false);
  if (value == nullptr) return std::nullopt;
  if (!value->is_object()) {
    problems_->Add(Loc(name), "dict_type", "Input should be an object", *value);
    return std::nullopt;
  }
  std::string text = base::DumpJson(*value);
  if (text.size() > bytes_max) {
    problems_->Add(Loc(name), "too_long",
                   fmt::format("The object should have at most {} bytes as JSON, has {}", bytes_max,
                               text.size()),
                   *value, {{"max_length", bytes_max}});
    return std::nullopt;
  }
  return text;
}

std::optional<std::vector<std::string>> BodyReader::Texts(std::string_view name, bool required) {
  const base::Json* value = Member(name, required);
  if (value == nullptr) return std::nullopt;
  if (!value->is_array()) {
    problems_->Add(Loc(name), "list_type", "Input should be an array of strings", *value);
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

void BodyReader::RefuseNull(std::string_view name, std::string_view kind) {
  if (!IsNull(name)) return;
  problems_->Add(Loc(name), fmt::format("{}_type", kind),
                 fmt::format("Input should not be null; leave {} out to keep it", name));
}

void BodyReader::Finish() {
  for (const auto& [name, value] : body_.items()) {
    if (known_.find(name) != known_.end()) continue;
    problems_->Add(Loc(std::string(Shortened(name).get<std::string>())), "extra_forbidden",
                   "There is no such field", value);
  }
}

QueryReader::QueryReader(std::string_view query, Problems* problems) : problems_(problems) {
  try {
    pairs_ = net::ParseQuery(query);
  } catch (const std::invalid_argument& e) {
    problems_->Add(base::Json::array({"query"}), "query_parsing", e.what(), query);
  }
}

std::optional<std::string> QueryReader::Text(std::string_view name) const {
  const std::vector<std::string> all = All(name);
  if (all.empty()) return std::nullopt;
  return all.back();
}

std::vector<std::string> QueryReader::All(std::string_view name) const {
  std::vector<std::string> values;
  for (const auto& [key, value] : pairs_) {
    if (key == name) values.push_back(value);
  }
  return values;
}

int QueryReader::Integer(std::string_view name, int absent, int min, int max) {
  const auto text = Text(name);
  if (!text) return absent;
  const base::Json loc = base::Json::array({"query", name});
  int value = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error == std::errc::invalid_argument || end != text->data() + text->size()) {
    problems_->Add(loc, "int_parsing", "Input should be an integer", *text);
    return absent;
  }
  const bool over = error == std::errc::result_out_of_range;
  const bool negative = text->starts_with('-');
  if ((over && !negative) || (!over && value > max)) {
    problems_->Add(loc, "less_than_equal",
                   fmt::format("Input should be less than or equal to {}", max), *text,
                   {{"le", max}});
    return absent;
  }
  if (over || value < min) {
    problems_->Add(loc, "greater_than_equal",
                   fmt::format("Input should be greater than or equal to {}", min), *text,
                   {{"ge", min}});
    return absent;
  }
  return value;
}

bool QueryReader::Boolean(std::string_view name, bool absent) {
  const auto text = Text(name);
  if (!text) return absent;
  if (*text == "true") return true;
  if (*text == "false") return false;
  problems_->Add(base::Json::array({"query", name}), "bool_parsing",
                 "Input should be true or false", *text);
  return absent;
}

}  // namespace vedette::api
