#include "domain/search/jsonpath_writer.h"

#include <fmt/format.h>

#include "base/json.h"
#include "base/text.h"
#include "domain/search/filter.h"

namespace vedette::domain::search {
namespace {

// Between words: what IsWordByte is false of, as PostgreSQL's regular expressions write it.
constexpr std::string_view kBetween = R"([\u0001-\u002f\u003a-\u0040\u005b-\u0060\u007b-\u007f])";

std::string Quoted(std::string_view text) {
  return base::DumpJson(base::Json(text));
}

std::string KeysOf(const std::vector<std::string>& keys) {
  std::string path;
  for (const std::string& key : keys) path += "." + Quoted(key);
  return path;
}

// The kind of JSON that a value of the field is. A list within a list has no values: without this
// test, comparisons would look into it.
std::string_view KindOf(FieldType type) {
  if (IsNumber(type)) return R"(@.type() == "number")";
  if (type == FieldType::kBoolean) return R"(@.type() == "boolean")";
  return R"(@.type() == "string")";
}

// An exists(..) is true or false, never unknown, whatever the document holds.
std::string SomeValue(const Field& field, std::string_view condition) {
  return fmt::format("exists(@{} ? ({}{}{}))", KeysOf(field.Path()), condition,
                     condition.empty() ? "" : " && ", KindOf(field.type));
}

// A word, in either case. Words have no character that means something to a regular expression.
std::string WordPattern(std::string_view word) {
  std::string pattern;
  for (const char c : word) {
    if (c >= 'a' && c <= 'z') {
      pattern += {'[', c, static_cast<char>(c - 'a' + 'A'), ']'};
    } else {
      pattern += c;
    }
  }
  return pattern;
}

std::string LikeWords(const std::vector<std::string>& words, std::string_view joint) {
  std::string joined;
  for (const std::string& word : words) {
    if (!joined.empty()) joined += joint;
    joined += WordPattern(word);
  }
  return "@ like_regex " + Quoted(fmt::format("(^|{0})({1})({0}|$)", kBetween, joined));
}

std::string Joined(const std::vector<Filter>& parts, std::string_view joint, std::string_view none);

struct Printer {
  std::string operator()(const Everything&) const { return "(1 == 1)"; }
  std::string operator()(const And& f) const { return Joined(f.parts, " && ", "(1 == 1)"); }
  std::string operator()(const Or& f) const { return Joined(f.parts, " || ", "(1 == 0)"); }
  std::string operator()(const None& f) const {
    return "!(" + Joined(f.parts, " || ", "(1 == 0)") + ")";
  }
  std::string operator()(const Nested& f) const {
    return fmt::format(R"(exists(@{} ? (@.type() == "object" && {})))", KeysOf(SplitPath(f.path)),
                       Joined(f.parts, " && ", "(1 == 1)"));
  }
  std::string operator()(const OneOf& f) const {
    std::string any;
    for (const Value& value : f.values) {
      if (!any.empty()) any += " || ";
      any += "@ == " + base::DumpJson(JsonOf(value));
    }
    return SomeValue(*f.field, "(" + any + ")");
  }
  std::string operator()(const Range& f) const {
    std::string within;
    if (f.lower) {
      within = (f.lower->inclusive ? "@ >= " : "@ > ") + base::DumpJson(JsonOf(f.lower->value));
    }
    if (f.upper) {
      if (!within.empty()) within += " && ";
      within += (f.upper->inclusive ? "@ <= " : "@ < ") + base::DumpJson(JsonOf(f.upper->value));
    }
    return SomeValue(*f.field, within);
  }
  std::string operator()(const Exists& f) const { return SomeValue(*f.field, ""); }
  std::string operator()(const Prefix& f) const {
    return SomeValue(*f.field, "@ starts with " + Quoted(f.text));
  }
  std::string operator()(const Match& f) const {
    return SomeValue(*f.field, LikeWords(f.words, "|"));
  }
  std::string operator()(const Phrase& f) const {
    return SomeValue(*f.field, LikeWords(f.words, std::string(kBetween) + "+"));
  }
};

std::string Joined(const std::vector<Filter>& parts, std::string_view joint,
                   std::string_view none) {
  if (parts.empty()) return std::string(none);
  std::string text;
  for (const Filter& part : parts) {
    if (!text.empty()) text += joint;
    text += std::visit(Printer(), part.is);
  }
  return "(" + text + ")";
}

}  // namespace

std::string FilterJsonPath(const Filter& filter) {
  return "$ ? (" + std::visit(Printer(), filter.is) + ")";
}

std::string ValuesJsonPath(const Field& field) {
  std::string path = "$";
  if (!field.nested_path.empty()) {
    path += KeysOf(SplitPath(field.nested_path)) + R"( ? (@.type() == "object"))";
  }
  return path + KeysOf(field.Path()) + fmt::format(" ? ({})", KindOf(field.type));
}

}  // namespace vedette::domain::search
