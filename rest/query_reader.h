#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/uuid.h"
#include "rest/problems.h"

namespace vedette::rest {

// Reads the parameters of a query. Unknown ones are passed over; of repeated ones the last counts.
// What is wrong becomes a problem with a `loc` such as ["query", "limit"], and the call gives what
// it gives for a parameter that is absent. Pure; one thread.
class QueryReader {
 public:
  // A bad escape is a problem. `query`: behind the '?'. `problems` must outlive this object.
  QueryReader(std::string_view query, Problems* problems);

  int Integer(std::string_view name, int absent, int min, int max);
  bool Boolean(std::string_view name, bool absent);  // "true" or "false"
  std::optional<base::Uuid> Id(std::string_view name);
  std::optional<std::string> Text(std::string_view name) const;
  std::vector<std::string> All(std::string_view name) const;

  // Adds a problem for a parameter whose value is not acceptable.
  void Refuse(std::string_view name, std::string_view type, std::string_view msg);

 private:
  std::vector<std::pair<std::string, std::string>> pairs_;
  Problems* const problems_;
};

}  // namespace vedette::rest
