#include "base/json.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/text.h"

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

// Bytes of a key that are shown where a place is told.
constexpr std::size_t kPlaceKeyBytesMax = 64;

// The place of a document's first NUL, as a sentence. It is looked for where there is one, so that
// reading the others keeps no names of what is passed over.
class NulFinder final : public nlohmann::json_sax<Json> {
 public:
  static std::string Sentence(std::string_view text) {
    NulFinder finder;
    Json::sax_parse(text.begin(), text.end(), &finder);
    std::string place;
    for (const Step& step : finder.open_) {
      if (!step.is_object) {
        place += '[' + std::to_string(step.index) + ']';
      } else if (!step.key.empty()) {
        if (!place.empty()) place += '.';
        place += step.key;
      }
    }
    return place + (place.empty() ? "" : ": ") + finder.what_ +
           " contains \\u0000, which is not taken";
  }

  bool null() override { return Next(); }
  bool boolean(bool) override { return Next(); }
  bool number_integer(number_integer_t) override { return Next(); }
  bool number_unsigned(number_unsigned_t) override { return Next(); }
  bool number_float(number_float_t, const string_t&) override { return Next(); }
  bool string(string_t& value) override { return value.find('\0') == std::string::npos && Next(); }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return Enter(true); }
  bool start_array(std::size_t) override { return Enter(false); }
  bool end_object() override { return Leave(); }
  bool end_array() override { return Leave(); }
  bool key(string_t& value) override {
    if (value.find('\0') != std::string::npos) {
      open_.pop_back();  // the place is the object's
      what_ = "a member's name";
      return false;
    }
    open_.back().key = value.substr(0, kPlaceKeyBytesMax);
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override {
    return false;
  }

 private:
  struct Step {
    bool is_object;
    std::size_t index = 0;
    std::string key{};
  };

  bool Next() {
    if (!open_.empty()) ++open_.back().index;
    return true;
  }
  bool Enter(bool is_object) {
    open_.push_back({is_object});
    return true;
  }
  bool Leave() {
    open_.pop_back();
    return Next();
  }

  std::vector<Step> open_;
  const char* what_ = "a string";
};

// Builds the document from the parser's callbacks. Returning false ends the parse.
//
// The members of an open object wait in a plain vector and become an ordered object when it is
// closed: that one searches linearly at every insertion and copies its values when it grows, so
// that hostile input would cost the square of its members, or its size times its depth.
class Builder final : public nlohmann::json_sax<Json> {
 public:
  // `apart`: the member whose array is passed over; null where there is none.
  Builder(Json* root, const JsonLimits& limits, const std::string_view* apart)
      : root_(root), limits_(limits), apart_(apart) {}

  std::optional<JsonError> error;
  bool has_nul = false;      // which is all that is wrong so far
  bool passed_over = false;  // the member apart is there, and an array

  bool null() override { return passing_ > 0 || Add(Json(nullptr)); }
  bool boolean(bool value) override { return passing_ > 0 || Add(Json(value)); }
  bool number_integer(number_integer_t value) override {
    if (passing_ > 0) return true;
    // Zero comes as a signed number when it is written as -0.
    return Add(limits_.keep_numbers && value == 0 ? KeptNumber("-0") : Json(value));
  }
  bool number_unsigned(number_unsigned_t value) override {
    return passing_ > 0 || Add(Json(value));
  }
  bool number_float(number_float_t value, const string_t& text) override {
    if (passing_ > 0) return true;
    Json number(value);
    const bool changed = limits_.keep_numbers && number.dump() != text;
    return Add(changed ? KeptNumber(text) : std::move(number));
  }
  bool string(string_t& value) override {
    return WithoutNul(value) && (passing_ > 0 || Add(Json(std::move(value))));
  }
  bool binary(binary_t&) override { return false; }  // not in JSON text

  bool start_object(std::size_t) override { return passing_ > 0 ? PassInto() : Open(true); }
  bool start_array(std::size_t) override {
    if (passing_ > 0) return PassInto();
    if (!IsApart()) return Open(false);
    passed_over = true;
    return PassInto();
  }
  bool end_object() override {
    if (passing_ > 0) return --passing_, true;
    const std::size_t given = open_.back().members.size();
    Json object(Merged(std::move(open_.back().members)));
    open_.pop_back();
    if (limits_.unique_members && object.size() != given) {
      return Fail(JsonError::Kind::kMalformed, "an object has a member twice");
    }
    return Place(std::move(object));
  }
  bool end_array() override {
    if (passing_ > 0) return --passing_ > 0 || Add(Json::array());
    Json array(std::move(open_.back().items));
    open_.pop_back();
    return Place(std::move(array));
  }

  bool key(string_t& value) override {
    if (!WithoutNul(value)) return false;
    if (passing_ > 0) return true;
    if (apart_ != nullptr && open_.size() == 1 && value == *apart_) passed_over = false;
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
    has_nul = text.find('\0') != std::string::npos;
    return !has_nul;
  }

  static Json KeptNumber(const std::string& text) {
    return Json::binary({text.begin(), text.end()});
  }

  // Whether the value that begins is the member apart of the outermost object.
  bool IsApart() const {
    return apart_ != nullptr && open_.size() == 1 && open_.back().is_object &&
           open_.back().members.back().first == *apart_;
  }

  bool PassInto() {
    if (TooDeep(open_.size() + passing_)) return false;
    ++passing_;
    return true;
  }

  bool Add(Json value) { return Counted() && Place(std::move(value)); }

  bool Counted() {
    if (values_++ < limits_.values_max) return true;
    return Fail(JsonError::Kind::kTooManyValues,
                "there are more than " + std::to_string(limits_.values_max) + " values");
  }

  bool Place(Json value) {
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
    if (TooDeep(open_.size()) || !Counted()) return false;
    open_.push_back({is_object, {}, {}});
    return true;
  }

  bool TooDeep(std::size_t depth) {
    if (depth < static_cast<std::size_t>(limits_.depth_max)) return false;
    return !Fail(JsonError::Kind::kTooDeep,
                 "nested deeper than " + std::to_string(limits_.depth_max) + " levels");
  }

  // Equal keys become one: the last value, at the place of the first.
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
  const std::string_view* apart_;
  std::vector<Container> open_;
  std::size_t passing_ =
      0;  // containers open inside the array that is passed over, itself included
  std::size_t values_ = 0;
};

// Walks over a document that is known to be valid JSON, an object at the outside.
class Walker {
 public:
  explicit Walker(std::string_view text) : text_(text) {
    // The parser passes over one, too.
    if (text_.starts_with(kByteOrderMark)) at_ = kByteOrderMark.size();
  }

  // The elements of the array in member `name`, of which there is at least one.
  JsonElements Elements(std::string_view name, std::size_t elements_max) {
    JsonElements elements;
    for (Enter(); !Leave();) {
      const std::string_view key = Value();
      Enter();  // the colon
      if (IsKey(key, name) && text_[at_] == '[') {
        elements = Array(elements_max);
      } else {
        Value();
      }
    }
    return elements;
  }

 private:
  void Space() { at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size()); }

  // Over the next character and what is blank around it.
  void Enter() {
    Space();
    ++at_;
    Space();
  }

  // Behind a value or the beginning of a container: whether the container ends. Passes over a
  // comma.
  bool Leave() {
    Space();
    if (text_[at_] == ',') Enter();
    return text_[at_] == ']' || text_[at_] == '}';
  }

  static bool IsKey(std::string_view quoted, std::string_view name) {
    if (quoted.find('\\') != std::string_view::npos) return Json::parse(quoted) == Json(name);
    return quoted.substr(1, quoted.size() - 2) == name;
  }

  JsonElements Array(std::size_t elements_max) {
    JsonElements elements;
    for (Enter(); !Leave(); ++elements.count) {
      const std::string_view element = Value();
      if (elements.count < elements_max) elements.texts.push_back(element);
    }
    ++at_;
    return elements;
  }

  std::string_view Value() {
    const std::size_t from = at_;
    std::size_t depth = 0;
    do {
      const char c = text_[at_];
      if (c == '"') {
        String();
        continue;
      }
      if (c == '[' || c == '{') ++depth;
      if (c == ']' || c == '}') --depth;
      ++at_;
      if (depth == 0 && c != ']' && c != '}') {
        at_ = std::min(text_.find_first_of(",]} \t\r\n", at_), text_.size());
      }
    } while (depth > 0);
    return text_.substr(from, at_ - from);
  }

  void String() {
    for (++at_; text_[at_] != '"'; ++at_) {
      if (text_[at_] == '\\') ++at_;
    }
    ++at_;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

// The text that nlohmann would write.
std::string Dump(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// Whether the text stands in a JSON string as it is: printable ASCII, without quotes and
// backslashes. Looks at every character, so that the compiler makes it look at many at a time.
bool IsPlain(std::string_view text) {
  unsigned special = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    special |= static_cast<unsigned>(byte < 0x20) | static_cast<unsigned>(byte >= 0x80) |
               static_cast<unsigned>(byte == '"') | static_cast<unsigned>(byte == '\\');
  }
  return special == 0;
}

// The character of valid UTF-8, of which these bytes alone are written as escapes.
void AppendEscaped(char c, std::string* out) {
  constexpr std::string_view kSpecial = "\"\\\b\f\n\r\t";
  constexpr std::string_view kLetters = "\"\\bfnrt";
  if (const auto at = kSpecial.find(c); at != std::string_view::npos) {
    out->push_back('\\');
    out->push_back(kLetters[at]);
  } else if (static_cast<unsigned char>(c) < 0x20) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    out->append("\\u00");
    out->push_back(kDigits[static_cast<unsigned char>(c) >> 4U]);
    out->push_back(kDigits[static_cast<unsigned char>(c) & 0xfU]);
  } else {
    out->push_back(c);
  }
}

void AppendArray(const Json& array, std::string* out) {
  out->push_back('[');
  bool first = true;
  for (const Json& element : array) {
    if (!std::exchange(first, false)) out->push_back(',');
    AppendJson(element, out);
  }
  out->push_back(']');
}

void AppendObject(const Json& object, std::string* out) {
  out->push_back('{');
  bool first = true;
  for (const auto& [key, member] : object.items()) {
    if (!std::exchange(first, false)) out->push_back(',');
    AppendJsonString(key, out);
    out->push_back(':');
    AppendJson(member, out);
  }
  out->push_back('}');
}

std::optional<JsonError> Parse(std::string_view text, const std::string_view* apart, Json* out,
                               const JsonLimits& limits, bool* passed_over) {
  // The parser takes a NUL for the end of the input and would accept whatever stands behind.
  if (const std::size_t nul = text.find('\0'); nul != std::string_view::npos) {
    return JsonError{JsonError::Kind::kMalformed, "at byte " + std::to_string(nul + 1) + ": NUL"};
  }
  Json root;
  Builder builder(&root, limits, apart);
  const bool complete = Json::sax_parse(text.begin(), text.end(), &builder);
  if (builder.has_nul) {
    return JsonError{JsonError::Kind::kMalformed, NulFinder::Sentence(text)};
  }
  if (builder.error) return builder.error;
  if (!complete) return JsonError{JsonError::Kind::kMalformed, "not a JSON document"};
  *out = std::move(root);
  *passed_over = builder.passed_over;
  return std::nullopt;
}

}  // namespace

std::optional<JsonError> ParseJson(std::string_view text, Json* out, const JsonLimits& limits) {
  bool passed_over = false;
  return Parse(text, nullptr, out, limits, &passed_over);
}

std::optional<JsonError> ParseJsonApart(std::string_view text, std::string_view name,
                                        std::size_t elements_max, Json* out,
                                        std::optional<JsonElements>* elements,
                                        const JsonLimits& limits) {
  bool passed_over = false;
  if (auto error = Parse(text, &name, out, limits, &passed_over)) return error;
  elements->reset();
  if (passed_over) *elements = Walker(text).Elements(name, elements_max);
  return std::nullopt;
}

std::optional<std::string_view> NumberText(const Json& value) {
  if (!value.is_binary()) return std::nullopt;
  const auto& bytes = value.get_binary();
  return std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

namespace {

// Limits of text that we wrote ourselves: what is stored must be readable, however much it is.
Json ReadOwnJson(std::string_view text, bool keep_numbers) {
  Json value;
  const JsonLimits limits{.members_max = std::numeric_limits<int>::max(),
                          .keep_numbers = keep_numbers};
  if (const auto error = ParseJson(text, &value, limits)) {
    throw std::invalid_argument("malformed JSON: " + error->message);
  }
  return value;
}

}  // namespace

Json ParseJsonOrThrow(std::string_view text) {
  return ReadOwnJson(text, false);
}

Json ReadJsonCell(std::string_view text) {
  if (text == "null") return nullptr;
  // A string without escapes, which most cells are.
  if (text.size() >= 2 && text.front() == '"' && text.find('"', 1) == text.size() - 1 &&
      text.find('\\') == std::string_view::npos) {
    return Json(std::string(text.substr(1, text.size() - 2)));
  }
  return ReadOwnJson(text, true);
}

std::string DumpJson(const Json& value) {
  std::string text;
  AppendJson(value, &text);
  return text;
}

void AppendJson(const Json& value, std::string* out) {
  switch (value.type()) {
    case Json::value_t::null:
      out->append("null");
      return;
    case Json::value_t::boolean:
      out->append(value.get<bool>() ? "true" : "false");
      return;
    case Json::value_t::string:
      AppendJsonString(value.get_ref<const std::string&>(), out);
      return;
    case Json::value_t::number_integer:
      out->append(std::to_string(value.get<std::int64_t>()));
      return;
    case Json::value_t::number_unsigned:
      out->append(std::to_string(value.get<std::uint64_t>()));
      return;
    case Json::value_t::array:
      return AppendArray(value, out);
    case Json::value_t::object:
      return AppendObject(value, out);
    case Json::value_t::binary:
      out->append(NumberText(value).value_or("null"));
      return;
    case Json::value_t::number_float:
    case Json::value_t::discarded:
      out->append(Dump(value));
      return;
  }
}

void AppendJsonString(std::string_view text, std::string* out) {
  if (IsPlain(text)) {
    out->push_back('"');
    out->append(text);
    out->push_back('"');
  } else if (IsValidUtf8(text)) {
    out->push_back('"');
    for (const char c : text) AppendEscaped(c, out);
    out->push_back('"');
  } else {
    out->append(Dump(Json(std::string(text))));
  }
}

struct JsonText::Forms {
  std::optional<std::string> text;
  std::optional<Json> value;
};

JsonText::JsonText(std::string text) : forms_(std::make_shared<Forms>()) {
  forms_->text = std::move(text);
}

JsonText::JsonText(Json value) : forms_(std::make_shared<Forms>()) {
  forms_->value = std::move(value);
}

JsonText JsonText::Null() {
  return Json(nullptr);
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
