#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include "html/page_memory.h"

namespace vedette::html {

// What a test reads of a page: a text.
struct TextReading final : Reading {
  explicit TextReading(std::string t) : text(std::move(t)) {}
  std::size_t bytes() const override { return text.size(); }

  const std::string text;
};

}  // namespace vedette::html
