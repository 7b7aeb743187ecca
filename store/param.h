#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/uuid.h"
#include "store/lease.h"

// Internal to store/: what is passed to a statement and read from its rows, by name. One thread.
namespace vedette::store {

// A name as a part of a type: a statement's, a parameter's or a column's.
template <std::size_t N>
struct NameText {
  char text[N]{};
  consteval NameText(const char (&literal)[N]) { std::copy_n(literal, N, text); }
  constexpr std::string_view view() const { return {text, N - 1}; }
};

// `"org_id"_a = id`: what stands for @org_id in a statement; `"org_id"_a = &id`: where the column
// org_id of a row goes. It refers to its value, and lives as long as the expression.
template <NameText name, typename T>
struct Named {
  const T& value;
};
template <NameText name>
struct NameOf {
  template <typename T>
  constexpr Named<name, T> operator=(const T& value) const {
    return {value};
  }
};
template <NameText name>
consteval NameOf<name> operator""_a() {
  return {};
}

// What a value is to the database, as far as C++ tells: a document, a date or bytes are texts here.
enum class ValueKind : std::uint8_t { kNull, kBoolean, kInteger, kNumber, kUuid, kTime, kText };
struct ValueType {
  ValueKind kind = ValueKind::kNull;
  bool array = false;
};

// Whether a parameter or column of the database's type (the OID of pg_type) takes or gives it.
bool Fits(ValueType type, std::uint32_t database_type);

template <typename T>
struct TypeOf {
  static constexpr ValueKind Kind() {
    if constexpr (std::is_same_v<T, bool>) return ValueKind::kBoolean;
    if constexpr (std::is_integral_v<T> || std::is_enum_v<T>) return ValueKind::kInteger;
    if constexpr (std::is_floating_point_v<T>) return ValueKind::kNumber;
    if constexpr (std::is_same_v<T, base::Uuid>) return ValueKind::kUuid;
    if constexpr (std::is_same_v<T, base::Timestamp>) return ValueKind::kTime;
    if constexpr (std::is_same_v<T, std::nullopt_t>) return ValueKind::kNull;
    return ValueKind::kText;
  }
  static constexpr ValueType kType{Kind(), false};
};
template <typename T>
struct TypeOf<std::optional<T>> : TypeOf<T> {};
template <typename T>
struct TypeOf<T*> : TypeOf<T> {};
template <>
struct TypeOf<const char*> {
  static constexpr ValueType kType{ValueKind::kText, false};
};
template <>
struct TypeOf<char*> : TypeOf<const char*> {};
template <typename Period>
struct TypeOf<std::chrono::duration<std::int64_t, Period>> {
  static constexpr ValueType kType{ValueKind::kInteger, false};
};
template <typename T>
struct TypeOf<std::vector<T>> {
  static constexpr ValueType kType{
      TypeOf<T>::kType.array ? ValueKind::kText : TypeOf<T>::kType.kind, true};
};

// A bytea parameter, or an element of an array of them: "\x..." text.
std::string Bytea(std::string_view bytes);

// An array that grows by one element at a time, kept in the binary form of the protocol: to read
// ids, numbers and documents from the text of an array was a tenth of what PostgreSQL did for a
// small check. What its elements are to the database, only the statement knows.
class ArrayParam {
 public:
  template <typename T>
  requires(std::integral<T> || std::is_enum_v<T>) void Add(T element) {
    if constexpr (std::is_same_v<T, bool>) {
      AddBoolean(element);
    } else {
      AddInteger(static_cast<std::int64_t>(element));
    }
  }
  void Add(double element);
  void Add(const base::Uuid& id);
  void Add(base::Timestamp t);
  // Refuses text with a NUL byte, as Param does.
  void Add(std::string_view element);
  void Add(const std::string& element) { Add(std::string_view(element)); }
  template <typename T>
  void Add(const std::optional<T>& element) {
    if (element) {
      Add(*element);
    } else {
      AddNull();
    }
  }
  // An array inside a text array, as text: SQL has no arrays of arrays of different lengths.
  template <typename T>
  void Add(const std::vector<T>& element);

  // The whole array for a parameter whose elements are of this type (an OID of pg_type). Empty
  // where the elements have no binary form of that type here: Literal stands for them.
  std::optional<std::string> Binary(std::uint32_t element_type) const;
  // "{1,2,NULL}"
  std::string Literal() const;
  // About that many bytes.
  std::size_t size() const { return body_.size(); }

 private:
  void AddBoolean(bool element);
  void AddInteger(std::int64_t element);
  void AddNull();
  void Begin(ValueKind kind, std::size_t size);
  // Calls f(bytes) for each element, in order; empty for NULL.
  template <typename F>
  void ForEach(F&& f) const;
  std::string Header(std::uint32_t element_type) const;

  ValueKind kind_ = ValueKind::kNull;  // of the elements that are not NULL
  std::int32_t count_ = 0;
  bool has_null_ = false;
  std::string body_;  // of each element its length, -1 for NULL, and its bytes
};

// A parameter; NULL, a text, or an array. Text with a NUL byte is refused with
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
  Param(ArrayParam array) : array_(std::move(array)) {}
  template <typename T>
  Param(const std::optional<T>& v) {
    if (v) *this = Param(*v);
  }
  template <typename T>
  Param(const std::vector<T>& v);

  // What is passed as text, or NULL; an array as a literal.
  std::optional<std::string> text() const { return array_ ? array_->Literal() : text_; }
  // Empty: no array.
  const std::optional<ArrayParam>& array() const { return array_; }
  // About that many bytes.
  std::size_t size() const { return array_ ? array_->size() : text_ ? text_->size() : 0; }

 private:
  std::optional<std::string> text_;
  std::optional<ArrayParam> array_;
};

template <typename T>
void ArrayParam::Add(const std::vector<T>& element) {
  Add(std::string_view(*Param(element).text()));
}

template <typename T>
Param::Param(const std::vector<T>& v) {
  ArrayParam array;
  for (const auto& element : v) array.Add(element);
  array_ = std::move(array);
}

// A time for a statement that takes it as microseconds since the epoch: a number is read with less
// work than the text of a time, which counts where every check brings several.
inline std::int64_t Micros(base::Timestamp t) {
  return t.time_since_epoch().count();
}

// A column of Rows.
template <NameText name, typename T>
struct Column {
  using Type = T;
  static constexpr std::string_view kName = name.view();
};

// Rows that one statement takes as one array parameter a column, of the column's name, for its
// unnest(@id::uuid[], @amount_mc::bigint[]). Rows among the arguments of Transaction::Exec stand
// for the parameters of all their columns.
template <typename... Columns>
class Rows {
 public:
  // The columns of one row, in the order in which the type names them.
  void Add(const typename Columns::Type&... values) {
    AddEach(std::index_sequence_for<Columns...>(), values...);
    ++size_;
  }

  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }

  void AppendTo(std::vector<Param>* params) const {
    for (const ArrayParam& column : columns_) params->emplace_back(column);
  }

 private:
  template <std::size_t... At>
  void AddEach(std::index_sequence<At...>, const typename Columns::Type&... values) {
    (columns_[At].Add(values), ...);
  }

  std::array<ArrayParam, sizeof...(Columns)> columns_;
  std::size_t size_ = 0;
};

Rows<Column<"id", base::Uuid>, Column<"token", base::Uuid>> LeaseRows(
    const std::vector<Lease>& leases);

// A parameter that a call of a statement gives.
struct Parameter {
  std::string_view name;
  ValueType type;
};

// What an argument of Transaction::Exec declares and gives.
template <typename Argument>
struct ParametersOf;
template <NameText name, typename T>
struct ParametersOf<Named<name, T>> {
  static constexpr std::array<Parameter, 1> kParameters{
      Parameter{name.view(), TypeOf<std::decay_t<T>>::kType}};
  static void Append(const Named<name, T>& argument, std::vector<Param>* params) {
    params->emplace_back(argument.value);
  }
};
template <typename... Columns>
struct ParametersOf<Rows<Columns...>> {
  static constexpr std::array<Parameter, sizeof...(Columns)> kParameters{
      Parameter{Columns::kName, TypeOf<std::vector<typename Columns::Type>>::kType}...};
  static void Append(const Rows<Columns...>& rows, std::vector<Param>* params) {
    rows.AppendTo(params);
  }
};

// How a place in the program calls a statement: its name, and the parameters that it gives. There
// is one for each form of call, made before main; a test compares them all with the statements.
class Call {
 public:
  Call(std::string_view statement, std::span<const Parameter> parameters);
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  std::string_view statement() const { return statement_; }
  std::span<const Parameter> parameters() const { return parameters_; }

  // All calls of the program; the next one, or null.
  static const Call* First();
  const Call* next() const { return next_; }

  // For each of the statement's parameters, in the order of their numbers, which of the call's
  // gives it. Throws std::logic_error where the names are not the same.
  std::vector<std::size_t> Order(const std::vector<std::string>& names) const;

 private:
  const std::string_view statement_;
  const std::span<const Parameter> parameters_;
  const Call* const next_;
};

template <NameText statement, typename... Arguments>
struct CallOf {
  static constexpr std::size_t kSize = (ParametersOf<Arguments>::kParameters.size() + ... + 0);
  static constexpr std::array<Parameter, kSize> kParameters = [] {
    std::array<Parameter, kSize> all{};
    [[maybe_unused]] auto at = all.begin();
    ((at = std::copy(ParametersOf<Arguments>::kParameters.begin(),
                     ParametersOf<Arguments>::kParameters.end(), at)),
     ...);
    return all;
  }();
  static inline const Call kCall{statement.view(), kParameters};
};

}  // namespace vedette::store
