#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/json_text.h"
#include "domain/search/fields.h"

// The one tree that filters of every grammar are read into, and from which everything that leaves
// is printed: SQL's jsonpath, and query bodies of search engines. So what is not in the tree cannot
// leave. Its fields are entries of the catalogue, which must outlive it, and its values are of
// their fields' types. Pure values.
//
//   filters (query DSL) --dsl_reader-----+            +--jsonpath_writer--> one SQL parameter
//                                        +--> Filter -+--dsl_writer-------> a query body
//   simple_filters ------simple_reader---+            +--evaluate---------> true or false
//
// Every part is true or false of a document, never unknown. A leaf is true where one of the
// document's values of that field meets it; a field without values meets none. A leaf of a nested
// field stands inside a Nested of the field's path, and only there.
namespace vedette::domain::search {

// A number is one that a double holds exactly.
using Value = std::variant<std::string, double, bool>;

struct Filter;

struct Everything {};
// Every one of them; all documents where there are none.
struct And {
  std::vector<Filter> parts;
};
// At least one of them; no document where there are none.
struct Or {
  std::vector<Filter> parts;
};
// None of them.
struct None {
  std::vector<Filter> parts;
};
// One object at the path meets all of them.
struct Nested {
  std::string path;
  std::vector<Filter> parts;
};
// A value equals one of these. The field has values.
struct OneOf {
  const Field* field = nullptr;
  std::vector<Value> values;
};
// One value lies within both bounds: numbers by size, texts by code points. The field has values,
// and is not boolean.
struct Bound {
  Value value;
  bool inclusive = false;
};
struct Range {
  const Field* field = nullptr;
  std::optional<Bound> lower;
  std::optional<Bound> upper;
};
// There is a value.
struct Exists {
  const Field* field = nullptr;
};
// A value begins with this text. The field is a keyword, or has an exact twin.
struct Prefix {
  const Field* field = nullptr;
  std::string text;
};
// A value has one of these words. The field is a text; the words are those of WordsOf, at least
// one.
struct Match {
  const Field* field = nullptr;
  std::vector<std::string> words;
};
// A value has these words in this order with nothing between them. As Match.
struct Phrase {
  const Field* field = nullptr;
  std::vector<std::string> words;
};

struct Filter {
  std::variant<Everything, And, Or, None, Nested, OneOf, Range, Exists, Prefix, Match, Phrase> is;
};

// The words of a text, in lower case. A word is a run of ASCII letters, ASCII digits, and any
// characters beyond ASCII; everything else separates words. Only A to Z have a lower case: this is
// the same on every database, whatever its locale.
std::vector<std::string> WordsOf(std::string_view text);
// Whether a byte of UTF-8 belongs to a word.
bool IsWordByte(char c);

// Values of fields, between the tree, JSON and what clients see. Pure.

// The value in JSON; a number without a fraction is an integer.
base::Json JsonOf(const Value& value);

// The value as an answer lists it: the text itself, "42", "0.5", "true".
std::string TextOf(const Value& value);

// The clause {"term": {field: value}}, inside a nested clause where the field is nested, that
// selects exactly the documents with this value; {} where no filter can say it: the text is too
// long, or the number is none that a double holds exactly. `text` is as TextOf has it.
base::Json FilterSnippet(const Field& field, std::string_view text);

// What filters and counts mean, said in memory: the rule that databases and search engines are held
// to. Pure; written for clearness, not for speed.

// Whether the filter is true of the document.
bool Evaluate(const Filter& filter, const base::Json& document);

// The values of the field that a document has, each once. On the way to them a list stands for what
// is in it, and so it does at the end; a list within a list has no values.
std::vector<Value> ValuesOf(const Field& field, const base::Json& document);

struct ValueCount {
  std::string value;  // as TextOf has it
  std::int64_t count = 0;

  bool operator==(const ValueCount&) const = default;
};

// The top values of a field among the documents that are counted. Counts are documents.
struct TopValues {
  std::int64_t total = 0;          // documents
  std::int64_t missing = 0;        // of them without a value
  std::int64_t other = 0;          // sum of the counts of the values that are not listed
  std::vector<ValueCount> values;  // by count, the largest first, then by the value's bytes

  bool operator==(const TopValues&) const = default;
};
TopValues CountValues(const Field& field, const Filter& filter,
                      const std::vector<base::Json>& documents, std::size_t values_max);

}  // namespace vedette::domain::search
