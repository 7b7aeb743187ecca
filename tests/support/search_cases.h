#pragma once

#include <random>
#include <string>
#include <vector>

#include "base/json.h"
#include "domain/search/fields.h"

// Documents and filters by chance, for tests in which several parts have to agree on them.
namespace vedette::test {

// What must stay a value, wherever it goes: it would mean something to SQL, to jsonpath, to a
// regular expression, to JSON or to a terminal.
const std::vector<std::string>& NastyTexts();

// A catalogue with a field of every type, in the document, in an object, and in a list of objects.
domain::search::Catalogue SmallCatalogue();

// One source of chance; the same seed gives the same cases.
class SearchCases {
 public:
  explicit SearchCases(unsigned seed) : random_(seed) {}

  // An object with `id`. Fields of SmallCatalogue are missing, single, listed, listed in a list,
  // null, or of a wrong type.
  base::Json Document(const std::string& id);
  // The same without anything that others would decide differently: a value is of its field's type,
  // or is missing; lists have values, and hold no lists; what is in an object is in no list.
  base::Json PlainDocument(const std::string& id);
  // Filters of the two grammars that name fields of SmallCatalogue, and are within every limit.
  base::Json Dsl() { return DslClause(3, ""); }
  base::Json Simple() { return SimpleObject(3, ""); }
  // A field that has values.
  const domain::search::Field& CountedField(const domain::search::Fields& fields);

  int Below(int n) { return std::uniform_int_distribution<int>(0, n - 1)(random_); }
  bool Chance(int percent) { return Below(100) < percent; }

 private:
  std::string Text();
  base::Json ValueOf(domain::search::FieldType type);
  base::Json Messy(domain::search::FieldType type);
  base::Json Object(const std::string& nested_path);
  base::Json PlainObject(const std::string& nested_path);
  const domain::search::Field& AnyField(const std::string& nested_path);
  base::Json DslClause(int depth, const std::string& nested_path);
  base::Json DslBool(int depth, const std::string& nested_path);
  base::Json DslLeaf(const domain::search::Field& field);
  base::Json SimpleObject(int depth, const std::string& nested_path);
  base::Json SimpleConditions(const domain::search::Field& field);

  std::mt19937 random_;
};

}  // namespace vedette::test
