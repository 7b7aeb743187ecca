#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "domain/observation.h"

namespace vedette::pages {

// What a reader sees of a page.
struct PageText {
  std::string url;   // the last one, after redirects
  std::string text;  // folded; cut where it is long
};

// What was made of a page.
struct PageReading {
  domain::ObservationResult result;
  std::optional<PageText> text;  // where it was asked for and the page could be read
  std::string url{};             // of the page that was read, the last one after redirects
  bool asks_for_password = false;
};

// What it takes in memory, about.
std::size_t BytesOf(const PageReading& reading);

}  // namespace vedette::pages
