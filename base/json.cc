#include "base/json.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <utility>
#include <vector>

template class nlohmann::basic_json<nlohmann::ordered_map>;

namespace vedette::base {
namespace {

// nlohmann's sentence without its code, its line and column (we give the byte) and the text last
// read, which is the sender's and may be of any length.
std::string Reason(std::string_view what) {
  if (const auto at = what.find("column "); at != std::string_view::npos) {
    if (const auto colon = what.find(": ", at); colon != std::string_view::npos) {
      what.remove_prefix(colon + 2);
    }
  }
  return std::string(what.substr(0, what.find("; last read:")));
}

// Builds the document from the parser's callbacks. Returning false ends the parse.
//
// The members of an open object wait in a plain vector and become an ordered object when it is
// closed: that one searches linearly at every insertion and copies its values when it grows, so
// that hostile input would cost the square of its members, or its size times its depth.
class Builder final : public nlohmann::json_sax<Json> {
 public:
  Builder(Json* root, const JsonLimits& limits) : root_(root), limits_(limits) {}

  std::optional<JsonError> error;

  bool null() override { return Add(Json(nullptr)); }
  bool boolean(bool value) override { return Add(Json(value)); }
  bool number_integer(number_integer_t value) override { return Add(Json(value)); }
  bool number_unsigned(number_unsigned_t value) override { return Add(Json(value)); }
  bool number_float(number_float_t value, const string_t&) override { return Add(Json(value)); }
  bool string(string_t& value) override { return WithoutNul(value) && Add(Json(std::move(value))); }
  bool binary(binary_t&) override { return false; }  // not in JSON text

  bool start_object(std::size_t) override { return Open(true); }
  bool start_array(std::size_t) override { return Open(false); }
  bool end_object() override {
    Json object(Merged(std::move(open_.back().members)));
    open_.pop_back();
    return Add(std::move(object));
  }
  bool end_array() override {
    Json array(std::move(open_.back().items));
    open_.pop_back();
    return Add(std::move(array));
  }

  bool key(string_t& value) override {
    if (!WithoutNul(value)) return false;
    auto& members = open_.back().members;
    if (members.size() >= static_cast<std::size_t>(limits_.members_max)) {
      return Fail(JsonError::Kind::kTooManyMembers,
                  "an object has more than " + std::to_string(limits_.members_max) + " members");
    }
    members.emplace_back(std::move(value), Json());
    return true;
  }

  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception& e) override {
    const bool number = e.id == 406;  // the token, any number of digits, is in that message
    return Fail(JsonError::Kind::kMalformed,
                "at byte " + std::to_string(position) + ": " +
                    (number ? "number out of range" : Reason(e.what())));
  }

 private:
  using Members = std::vector<std::pair<std::string, Json>>;

  struct Container {
    bool is_object;
    Json::array_t items;
    Members members;  // the last one's value is the one that comes next
  };

  bool Fail(JsonError::Kind kind, std::string message) {
    if (!error) error = JsonError{kind, std::move(message)};
    return false;
  }

  bool WithoutNul(const std::string& text) {
    if (text.find('\0') == std::string::npos) return true;
    return Fail(JsonError::Kind::kMalformed, "a string contains \\u0000");
  }

  bool Add(Json value) {
    if (open_.empty()) {
      *root_ = std::move(value);
    } else if (open_.back().is_object) {
      open_.back().members.back().second = std::move(value);
    } else {
      open_.back().items.push_back(std::move(value));
    }
    return true;
  }

  bool Open(bool is_object) {
    if (open_.size() >= static_cast<std::size_t>(limits_.depth_max)) {
      return Fail(JsonError::Kind::kTooDeep,
                  "nested deeper than " + std::to_string(limits_.depth_max) + " levels");
    }
    open_.push_back({is_object, {}, {}});
    return true;
  }

  // Of equal keys the last value, at the place of the first.
  static Json::object_t Merged(Members members) {
    std::vector<std::size_t> by_key(members.size());
    std::iota(by_key.begin(), by_key.end(), std::size_t{0});
    std::stable_sort(by_key.begin(), by_key.end(), [&](std::size_t a, std::size_t b) {
      return members[a].first < members[b].first;
    });
    std::vector<bool> repeated(members.size());
    for (std::size_t i = 0, first = 0; i < by_key.size(); ++i) {
      if (i == 0 || members[by_key[i]].first != members[by_key[first]].first) {
        first = i;
      } else {
        members[by_key[first]].second = std::move(members[by_key[i]].second);
        repeated[by_key[i]] = true;
      }
    }
    Json::object_t object;
    object.reserve(members.size());
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (repeated[i]) continue;
      object.emplace_back(std::move(members[i].first), std::move(members[i].second));
    }
    return object;
  }

  Json* root_;
  const JsonLimits& limits_;
  std::vector<Container> open_;
};

}  // namespace

std::optional<JsonError> ParseJson(std::string_view text, Json* out, const JsonLimits& limits) {
  // The parser takes a NUL for the end of the input and would accept whatever stands behind.
  if (const std::size_t nul = text.find('\0'); nul != std::string_view::npos) {
    return JsonError{JsonError::Kind::kMalformed, "at byte " + std::to_string(nul + 1) + ": NUL"};
  }
  Json root;
  Builder builder(&root, limits);
  const bool complete = Json::sax_parse(text.begin(), text.end(), &builder);
  if (builder.error) return builder.error;
  if (!complete) return JsonError{JsonError::Kind::kMalformed, "not a JSON document"};
  *out = std::move(root);
  return std::nullopt;
}

Json ParseJsonOrThrow(std::string_view text) {
  Json value;
  if (const auto error = ParseJson(text, &value)) {
    throw std::invalid_argument("malformed JSON: " + error->message);
  }
  return value;
}

std::string DumpJson(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

JsonText::JsonText(std::string text) : forms_(std::make_shared<Forms>()) {
  forms_->text = std::move(text);
}

JsonText::JsonText(Json value) : forms_(std::make_shared<Forms>()) {
  forms_->value = std::move(value);
}

const Json& JsonText::Value() const {
  static const Json kEmpty = Json::object();
  if (forms_ == nullptr) return kEmpty;
  if (!forms_->value) forms_->value = ParseJsonOrThrow(*forms_->text);
  return *forms_->value;
}

const std::string& JsonText::Text() const {
  static const std::string kEmpty = "{}";
  if (forms_ == nullptr) return kEmpty;
  if (!forms_->text) forms_->text = DumpJson(*forms_->value);
  return *forms_->text;
}

}  // namespace vedette::base
