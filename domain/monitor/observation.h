#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/json_text.h"
#include "domain/monitor/failure.h"

// What is asked about a row, and what a probe of it answers. Values; any thread.
namespace vedette::domain {

// The most bytes of an observed value. A longer one fails the check: comparing a cut one would miss
// changes, silently.
inline constexpr std::size_t kValueBytesMax = 65536;

struct WatchedField {
  std::string name;
  std::string description;  // prose or a selector (domain/monitor/field_description.h)
};

struct FieldObservation {
  // A scalar; null means that the field was looked for and is absent.
  base::JsonText value = base::JsonText::Null();
  std::string evidence;
  std::vector<std::string> sources;  // URLs
  std::optional<double> confidence;  // 0..10 or as the service says
};

// Fields by name; one that is left out was not observed.
struct Observation {
  std::map<std::string, FieldObservation> fields;
  // Fields that were not observed: why they could not be read, though others could.
  std::map<std::string, Failure> unread{};
  bool rendered = false;  // the page had its scripts run by a browser, which may cost more
};

using ObservationResult = std::variant<Observation, Failure>;

}  // namespace vedette::domain
