#pragma once

#include <cstddef>
#include <map>
#include <memory>
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

// The most bytes of a page's text that are kept of it.
inline constexpr std::size_t kSnapshotTextBytesMax = 131072;

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

// What a page said and looked like when it was read.
struct SeenPage {
  std::string url;        // the last one, after redirects
  std::string text;       // compressed (base/compression.h)
  std::string text_hash;  // SHA-256 of the text
  int text_bytes = 0;     // of the whole text, of which kSnapshotTextBytesMax are kept
  std::string picture{};  // of a page that was rendered, in WebP; may be empty
  std::string picture_hash{};
};

// Fields by name; one that is left out was not observed.
struct Observation {
  std::map<std::string, FieldObservation> fields;
  // Fields that were not observed: why they could not be read, though others could.
  std::map<std::string, Failure> unread{};
  bool rendered = false;  // the page had its scripts run by a browser, which may cost more
  // The page, where it is kept; may be null.
  std::shared_ptr<const SeenPage> page{};
};

using ObservationResult = std::variant<Observation, Failure>;

}  // namespace vedette::domain
