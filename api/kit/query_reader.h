#pragma once

#include <functional>
#include <initializer_list>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/kit/reply.h"
#include "base/clock.h"
#include "base/uuid.h"

namespace vedette::rest {

// The time of a parameter as RFC 3339 has it, from 1970 on: what is counted back from a time of the
// year 1 is a date that the database does not have. Throws std::invalid_argument.
base::Timestamp ParseQueryTime(std::string_view text);

// Reads the parameters of a query. Of repeated ones the last counts; unknown ones are refused by
// Finish, and passed over where it is not called.
// What is wrong becomes a problem with a `loc` such as ["query", "limit"], and the call gives what
// it gives for a parameter that is absent. Pure; one thread.
class QueryReader {
 public:
  // A bad escape is a problem. `query`: behind the '?'. `problems` must outlive this object.
  QueryReader(std::string_view query, Problems* problems);

  int Integer(std::string_view name, int absent, int min, int max);
  // "true" or "false" in any case, as languages write it, or "1" or "0".
  bool Boolean(std::string_view name, bool absent);
  std::optional<base::Uuid> Id(std::string_view name);
  std::optional<std::string> Text(std::string_view name) const;
  std::vector<std::string> All(std::string_view name) const;

  // Adds a problem for each parameter that nobody has asked for and that `further` does not name:
  // one that is misspelt would otherwise be passed over in silence. Without its value, which may be
  // a secret that belongs elsewhere.
  void Finish(std::initializer_list<std::string_view> further = {});

  // Adds a problem for a parameter whose value is not acceptable.
  void Refuse(std::string_view name, std::string_view type, std::string_view msg);

 private:
  std::vector<std::pair<std::string, std::string>> pairs_;
  mutable std::set<std::string, std::less<>> asked_;
  Problems* const problems_;
};

}  // namespace vedette::rest
