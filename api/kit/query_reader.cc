#include "api/kit/query_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <stdexcept>

#include "base/json.h"
#include "base/text.h"
#include "net/http_server.h"

namespace vedette::rest {

base::Timestamp ParseQueryTime(std::string_view text) {
  const base::Timestamp time = base::ParseTimestamp(text);
  if (time < base::Timestamp()) throw std::invalid_argument("the time is before 1970");
  return time;
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
  asked_.emplace(name);
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
  const std::string word = base::AsciiLower(*text);
  if (word == "true" || word == "1") return true;
  if (word == "false" || word == "0") return false;
  Refuse(name, "bool_parsing", "Input should be true or false, or 1 or 0");
  return absent;
}

std::optional<base::Uuid> QueryReader::Id(std::string_view name) {
  const auto text = Text(name);
  if (!text) return std::nullopt;
  const auto id = base::Uuid::Parse(*text);
  if (!id) Refuse(name, "uuid_parsing", "Input should be a UUID");
  return id;
}

void QueryReader::Finish(std::initializer_list<std::string_view> further) {
  for (const auto& [name, value] : pairs_) {
    if (asked_.contains(name) || std::find(further.begin(), further.end(), name) != further.end()) {
      continue;
    }
    problems_->Add(base::Json::array({"query", Shortened(name)}), "extra_forbidden",
                   "There is no such parameter");
  }
}

void QueryReader::Refuse(std::string_view name, std::string_view type, std::string_view msg) {
  const auto text = Text(name);
  problems_->Add(base::Json::array({"query", name}), type, std::string(msg),
                 text ? base::Json(*text) : base::Json());
}

}  // namespace vedette::rest
