#pragma once

#include <optional>
#include <string>

#include "worker/probes/probe.h"

namespace vedette::worker {

// What a reader sees of a page.
struct PageText {
  std::string url;   // the last one, after redirects
  std::string text;  // folded; cut where it is long
};

// What was made of a page.
struct PageReading {
  ProbeResult result;
  std::optional<PageText> text;  // where it was asked for and the page could be read
};

}  // namespace vedette::worker
