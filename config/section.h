#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "config/keys.h"
#include "config/values.h"

// How the table of keys is put together. Inside config/ only.
namespace vedette::config {

// Finds a struct in a Config, whatever its type.
using Locator = std::function<void*(Config&)>;

// What sets a field of type T, `offset` bytes into the struct. One for each type of values and not
// for each key: the table has hundreds of keys, and a compiler takes each closure for a class of
// its own.
template <typename T>
std::function<bool(const RawValue&, Config*)> FieldSetter(Locator at, std::ptrdiff_t offset,
                                                          ValueReader<T> reader) {
  return [at = std::move(at), offset, read = std::move(reader.read)](const RawValue& raw,
                                                                     Config* config) {
    auto value = read(raw);
    if (!value) return false;
    *reinterpret_cast<T*>(static_cast<char*>(at(*config)) + offset) = std::move(*value);
    return true;
  };
}

// Adds the keys of one section; `at` finds the section's struct.
template <typename Struct>
class Section {
 public:
  template <typename At>
  Section(std::vector<Key>* table, std::string name, At at)
      : table_(table), name_(std::move(name)), at_([at = std::move(at)](Config& c) -> void* {
          Struct& found = at(c);
          return &found;
        }) {}

  template <typename T>
  Section& Add(std::string key, T Struct::*field, ValueReader<T> reader) {
    const Struct example{};
    const auto offset =
        reinterpret_cast<const char*>(&(example.*field)) - reinterpret_cast<const char*>(&example);
    table_->push_back({name_, std::move(key), reader.allowed, reader.secret,
                       FieldSetter<T>(at_, offset, std::move(reader))});
    return *this;
  }

  // Most durations: nothing below `min` works, nothing above an hour is meant.
  Section& Time(std::string key, milliseconds Struct::*field, milliseconds min = milliseconds(1),
                milliseconds max = std::chrono::hours(1)) {
    return Add(std::move(key), field, Milliseconds(min, max));
  }

 private:
  std::vector<Key>* table_;
  std::string name_;
  Locator at_;
};

// [search], [investigations] and [prices.investigation].
void AddSearchKeys(std::vector<Key>* table);

}  // namespace vedette::config
