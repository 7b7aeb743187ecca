#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "api/reply.h"
#include "base/json.h"

// Reading bodies and queries, gathering what is wrong with them (the 422 of decisions "Wire").
// Pure.
namespace vedette::api {

// Characters, not bytes, of valid UTF-8.
std::size_t CharCount(std::string_view text);

// A body that is an object. Of `rows`, the one member that may be large, the elements stay text, so
// that only one of them at a time takes the memory of a parsed value; they point into the body's
// text. Numbers are as they were given (base::NumberText).
struct JsonBody {
  base::Json members;  // `rows` is [] here, if it is an array
  std::optional<base::JsonElements> rows;
};
// `rows_max`: more rows are counted, but not kept.
std::optional<base::JsonError> ParseBody(std::string_view text, int rows_max, JsonBody* out);
// One of the rows.
std::optional<base::JsonError> ParseRow(std::string_view text, base::Json* out);

// What is wrong, up to a limit: a body of 100,000 bad rows is not answered by as many items.
class Problems {
 public:
  void Add(base::Json loc, std::string_view type, std::string msg,
           const base::Json& input = nullptr, base::Json ctx = nullptr);
  bool any() const { return !items_.empty(); }
  bool full() const;
  const std::vector<ValidationItem>& items() const { return items_; }

 private:
  std::vector<ValidationItem> items_;
};

// Reads the members of a body's object. Each call names a member and makes it known; null counts as
// absent unless said. Finish() complains of members that nobody asked for.
class BodyReader {
 public:
  // `body` is an object and outlives the reader.
  BodyReader(const base::Json& body, Problems* problems);

  // Whether it is there at all, null or not.
  bool Has(std::string_view name);
  // Whether it is there and null.
  bool IsNull(std::string_view name);
  // The member, unless absent or null; a missing required one is a problem.
  const base::Json* Member(std::string_view name, bool required);

  // Each empty when absent or wrong; what is wrong is a problem. Lengths in characters.
  std::optional<std::string> Text(std::string_view name, bool required, std::size_t chars_min,
                                  std::size_t chars_max);
  std::optional<int> Integer(std::string_view name, int min, int max);
  std::optional<bool> Boolean(std::string_view name, bool required);
  // The object's JSON text.
  std::optional<std::string> Object(std::string_view name, std::size_t bytes_max);
  std::optional<std::vector<std::string>> Texts(std::string_view name, bool required);

  // For a member that may not be null.
  void RefuseNull(std::string_view name, std::string_view kind);
  void Finish();

  static base::Json Loc(std::string_view name) { return base::Json::array({"body", name}); }

 private:
  const base::Json& body_;
  Problems* problems_;
  std::set<std::string, std::less<>> known_;
};

// Reads the parameters of a query; unknown ones are passed over, of repeated ones the last counts.
class QueryReader {
 public:
  // A bad escape is a problem.
  QueryReader(std::string_view query, Problems* problems);

  int Integer(std::string_view name, int absent, int min, int max);
  bool Boolean(std::string_view name, bool absent);
  std::optional<std::string> Text(std::string_view name) const;
  std::vector<std::string> All(std::string_view name) const;

 private:
  std::vector<std::pair<std::string, std::string>> pairs_;
  Problems* problems_;
};

}  // namespace vedette::api
