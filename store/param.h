#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/uuid.h"
#include "store/lease.h"

// Internal to store/: what is passed to a statement. One thread.
namespace vedette::store {

// A bytea parameter, or an element of an array of them: "\x..." text.
std::string Bytea(std::string_view bytes);

// A parameter in text form; empty = NULL. Text with a NUL byte is refused with
// std::invalid_argument: libpq would cut it there silently.
class Param {
 public:
  Param(std::nullopt_t) {}
  Param(std::string_view text);
  Param(const std::string& text) : Param(std::string_view(text)) {}
  Param(std::string&& text);
  Param(const char* text) : Param(std::string_view(text)) {}
  Param(bool v) : text_(v ? "t" : "f") {}
  template <std::integral T>
  requires(!std::is_same_v<T, bool>) Param(T v) : text_(std::to_string(v)) {}
  template <typename E>
  requires(std::is_enum_v<E>) Param(E v) : text_(std::to_string(static_cast<long long>(v))) {}
  Param(double v);
  Param(const base::Uuid& id) : text_(id.ToString()) {}
  Param(base::Timestamp t) : text_(base::FormatTimestamp(t)) {}
  template <typename T>
  Param(const std::optional<T>& v) {
    if (v) text_ = Param(*v).text_;
  }
  template <typename T>
  Param(const std::vector<T>& v);

  const char* c_str() const { return text_ ? text_->c_str() : nullptr; }
  const std::optional<std::string>& text() const { return text_; }

 private:
  std::optional<std::string> text_;
};

// An array literal that grows by one element at a time.
class ArrayText {
 public:
  // Numbers, ids and times need no quotes.
  template <typename T>
  requires(std::is_arithmetic_v<T> || std::is_enum_v<T> || std::is_same_v<T, base::Uuid> ||
           std::is_same_v<T, base::Timestamp>) void Add(const T& element) {
    Separate();
    text_ += *Param(element).text();
  }
  void Add(std::string_view element);
  template <typename T>
  void Add(const std::optional<T>& element) {
    if (element) {
      Add(*element);
    } else {
      Separate();
      text_ += "NULL";
    }
  }
  // An array inside a text array, as text: SQL has no arrays of arrays of different lengths.
  template <typename T>
  void Add(const std::vector<T>& element) {
    Add(*Param(element).text());
  }

  std::string Text() const { return text_ + '}'; }

 private:
  void Separate() {
    if (text_.size() > 1) text_ += ',';
  }
  std::string text_ = "{";
};

template <typename T>
Param::Param(const std::vector<T>& v) {
  ArrayText array;
  for (const auto& element : v) array.Add(element);
  text_ = array.Text();
}

// A time for a statement that takes it as microseconds since the epoch: a number is read with less
// work than the text of a time, which counts where every check brings several.
inline std::int64_t Micros(base::Timestamp t) {
  return t.time_since_epoch().count();
}

// Rows that one statement takes as one array parameter a column, for its unnest($1::..., $2::...).
// A Rows among the arguments of Transaction::Exec stands for as many parameters as it has columns.
template <typename... Types>
class Rows {
 public:
  // The columns of one row, in the order of the parameters.
  void Add(const Types&... values) {
    AddEach(std::index_sequence_for<Types...>(), values...);
    ++size_;
  }

  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }

  void AppendTo(std::vector<Param>* params) const {
    for (const ArrayText& column : columns_) params->emplace_back(column.Text());
  }

 private:
  template <std::size_t... At>
  void AddEach(std::index_sequence<At...>, const Types&... values) {
    (columns_[At].Add(values), ...);
  }

  std::array<ArrayText, sizeof...(Types)> columns_;
  std::size_t size_ = 0;
};

// The ids and the tokens.
Rows<base::Uuid, base::Uuid> LeaseRows(const std::vector<Lease>& leases);

template <typename T>
void AppendParam(std::vector<Param>* params, const T& arg) {
  params->emplace_back(arg);
}
template <typename... Types>
void AppendParam(std::vector<Param>* params, const Rows<Types...>& rows) {
  rows.AppendTo(params);
}

}  // namespace vedette::store
