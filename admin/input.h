#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "admin/answer.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/uuid.h"
#include "net/http_server.h"

namespace vedette::admin {

enum class Presence { kOptional, kRequired };

inline constexpr int kReasonCharsMax = 500;
inline constexpr int kNameCharsMax = 200;

// Reads the fields of a JSON body one by one and gathers what is wrong with them. Every reader
// gives nothing where the field is absent or wrong; after the last one Refusal() says whether to go
// on. A request without a body counts as {}.
class BodyReader {
 public:
  explicit BodyReader(const net::ServerRequest& request);

  // Between 1 and `chars_max` characters, not only white space.
  std::optional<std::string> Text(std::string_view name, Presence presence, int chars_max);
  std::optional<bool> Bool(std::string_view name, Presence presence);
  std::optional<base::Uuid> Id(std::string_view name, Presence presence);
  std::optional<base::Timestamp> Time(std::string_view name, Presence presence);
  // Credits as millicredits.
  std::optional<std::int64_t> Credits(std::string_view name, Presence presence);
  std::optional<double> Number(std::string_view name, Presence presence, double min, double max);
  // Texts out of `known`, each once.
  std::optional<std::vector<std::string>> Names(std::string_view name, Presence presence,
                                                const std::vector<std::string_view>& known);

  // Whether the field is there, and null. A reader called after it would refuse the null.
  bool IsNull(std::string_view name);
  bool Has(std::string_view name) const;

  // Notes that the field, though of the right type, is not acceptable.
  void Refuse(std::string_view name, std::string_view msg);

  // The answer if anything is wrong: 413, 415, 400, or 422 with every wrong and unknown field.
  std::optional<Answer> Refusal();

 private:
  const base::Json* Find(std::string_view name, Presence presence);
  void Add(std::string_view name, std::string_view type, std::string_view msg, base::Json input);

  std::optional<Answer> refusal_;  // of the body as a whole
  base::Json body_ = base::Json::object();
  std::set<std::string, std::less<>> known_;
  std::vector<Invalid> invalid_;
};

// Likewise for the query. Parameters that nobody asks for are passed over.
class QueryReader {
 public:
  explicit QueryReader(const net::ServerRequest& request);

  std::optional<std::string> Text(std::string_view name);
  std::optional<base::Uuid> Id(std::string_view name);
  int Limit();  // 1 to 1000, 100 by default
  int Limit(int by_default, int max);

  void Refuse(std::string_view name, std::string_view type, std::string_view msg);
  std::optional<Answer> Refusal();

 private:
  std::optional<Answer> refusal_;
  std::vector<std::pair<std::string, std::string>> pairs_;
  std::vector<Invalid> invalid_;
};

// Where a list goes on: opaque, versioned, of one kind of list. `kind` is a letter.
std::string MakeCursor(char kind, const base::Uuid& id);
std::string MakeCursor(char kind, base::Timestamp at, const base::Uuid& id);
struct Cursor {
  base::Uuid id;
  base::Timestamp at{};  // where the list has it
};
std::optional<Cursor> ReadCursor(char kind, std::string_view text);
Answer BadCursor();

}  // namespace vedette::admin
