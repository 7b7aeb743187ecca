#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "config/keys.h"
#include "config/values.h"

// How the table of keys is put together. Inside config/ only.
namespace vedette::config {

// Adds the keys of one section; `at` finds the section's struct.
template <typename Struct>
class Section {
 public:
  Section(std::vector<Key>* table, std::string name, std::function<Struct&(Config&)> at)
      : table_(table), name_(std::move(name)), at_(std::move(at)) {}

  template <typename T>
  Section& Add(std::string key, T Struct::*field, ValueReader<T> reader) {
    auto set = [at = at_, field, read = std::move(reader.read)](const RawValue& raw,
                                                                Config* config) {
      auto value = read(raw);
      if (!value) return false;
      at(*config).*field = std::move(*value);
      return true;
    };
    table_->push_back(
        {name_, std::move(key), std::move(reader.allowed), reader.secret, std::move(set)});
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
  std::function<Struct&(Config&)> at_;
};

// [search], [investigations] and [prices.investigation].
void AddSearchKeys(std::vector<Key>* table);

}  // namespace vedette::config
