#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "pages/fetch.h"
#include "pages/robots.h"

// A robots.txt as a page that is fetched and read like any other.
namespace vedette::pages {

struct RobotsReading final : Reading {
  Robots robots;
  std::size_t bytes() const override { return sizeof *this; }
};

// Reads the file on a thread of the pool, for the product token `product`.
inline ReadPage ReadRobotsFor(std::string product) {
  return [product = std::move(product)](const FetchedPage& file, ReadingTime&) -> Fetched {
    auto reading = std::make_shared<RobotsReading>();
    reading->robots = Robots::Parse(file.body, product);
    return std::shared_ptr<const Reading>(std::move(reading));
  };
}

// What ReadRobotsFor has read; `fetched` is no failure.
inline const Robots& RobotsOf(const Fetched& fetched) {
  return static_cast<const RobotsReading&>(*std::get<std::shared_ptr<const Reading>>(fetched))
      .robots;
}

}  // namespace vedette::pages
