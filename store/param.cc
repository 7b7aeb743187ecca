#include "store/param.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <initializer_list>
#include <limits>
#include <stdexcept>
#include <utility>

#include "base/assert.h"
#include "base/crypto.h"

namespace vedette::store {
namespace {

void RefuseNul(std::string_view text) {
  if (text.find('\0') != std::string_view::npos) {
    throw std::invalid_argument("a text parameter contains a NUL byte");
  }
}

}  // namespace

std::string Bytea(std::string_view bytes) {
  return "\\x" + base::HexEncode(bytes);
}

Param::Param(std::string_view text) : text_(text) {
  RefuseNul(text);
}

Param::Param(std::string&& text) : text_(std::move(text)) {
  RefuseNul(*text_);
}

Param::Param(double v) : text_(fmt::format("{}", v)) {}

namespace {

// Numbers of pg_type, which are the same in every database.
constexpr std::uint32_t kBooleanType = 16;
constexpr std::uint32_t kByteaType = 17;
constexpr std::uint32_t kBigintType = 20;
constexpr std::uint32_t kSmallintType = 21;
constexpr std::uint32_t kIntType = 23;
constexpr std::uint32_t kTextType = 25;
constexpr std::uint32_t kTidType = 27;
constexpr std::uint32_t kJsonType = 114;
constexpr std::uint32_t kDoubleType = 701;
constexpr std::uint32_t kTimestamptzType = 1184;
constexpr std::uint32_t kUuidType = 2950;
constexpr std::uint32_t kJsonbType = 3802;

// What comes before the document in jsonb's binary form.
constexpr char kJsonbVersion = 1;
// The protocol counts time from 2000 on.
constexpr std::int64_t kMicrosUntil2000 = 946'684'800'000'000;

// The protocol's integers have their first byte first.
template <typename T>
void Put(T value, std::string* out) {
  auto bytes = std::bit_cast<std::array<char, sizeof value>>(value);
  if constexpr (std::endian::native == std::endian::little) std::ranges::reverse(bytes);
  out->append(bytes.data(), bytes.size());
}

std::int64_t Get(std::string_view bytes) {
  std::uint64_t bits = 0;
  for (const char byte : bytes) bits = bits << 8 | static_cast<std::uint8_t>(byte);
  return static_cast<std::int64_t>(bits);
}

void PutElement(std::string_view bytes, std::string* out) {
  Put(static_cast<std::int32_t>(bytes.size()), out);
  out->append(bytes);
}

// The elements are kept as this type takes them.
bool IsKeptAs(ValueKind kind, std::uint32_t element_type) {
  switch (kind) {
    case ValueKind::kNull:
      return true;
    case ValueKind::kBoolean:
      return element_type == kBooleanType;
    case ValueKind::kInteger:
      return element_type == kBigintType;
    case ValueKind::kNumber:
      return element_type == kDoubleType;
    case ValueKind::kUuid:
      return element_type == kUuidType;
    case ValueKind::kTime:
      return element_type == kTimestamptzType;
    case ValueKind::kText:
      return element_type == kTextType || element_type == kJsonType;
  }
  return false;
}

template <typename T>
bool PutNarrow(std::int64_t value, std::string* out) {
  if (value < std::numeric_limits<T>::min() || value > std::numeric_limits<T>::max()) return false;
  Put(static_cast<std::int32_t>(sizeof(T)), out);
  Put(static_cast<T>(value), out);
  return true;
}

// The place of a row in its table, "(page,number)".
bool PutPlace(std::string_view text, std::string* out) {
  std::uint32_t page = 0;
  std::uint16_t number = 0;
  const char* const end = text.data() + text.size();
  if (!text.starts_with('(')) return false;
  const auto read_page = std::from_chars(text.data() + 1, end, page);
  if (read_page.ec != std::errc() || read_page.ptr == end || *read_page.ptr != ',') return false;
  const auto read_number = std::from_chars(read_page.ptr + 1, end, number);
  if (read_number.ec != std::errc() || std::string_view(read_number.ptr, end) != ")") return false;
  Put(std::int32_t{sizeof page + sizeof number}, out);
  Put(page, out);
  Put(number, out);
  return true;
}

// Writes an element as another type takes it that its kind may be of. False: it cannot be.
bool PutAs(ValueKind kind, std::uint32_t element_type, std::string_view bytes, std::string* out) {
  if (kind == ValueKind::kInteger) {
    if (element_type == kIntType) return PutNarrow<std::int32_t>(Get(bytes), out);
    return element_type == kSmallintType && PutNarrow<std::int16_t>(Get(bytes), out);
  }
  if (kind != ValueKind::kText) return false;
  if (element_type == kTidType) return PutPlace(bytes, out);
  if (element_type == kJsonbType) {
    Put(static_cast<std::int32_t>(bytes.size() + 1), out);
    out->push_back(kJsonbVersion);
    out->append(bytes);
    return true;
  }
  if (element_type != kByteaType || !bytes.starts_with("\\x")) return false;
  const auto decoded = base::HexDecode(bytes.substr(2));
  if (decoded) PutElement(*decoded, out);
  return decoded.has_value();
}

std::string Quoted(std::string_view element) {
  std::string out = "\"";
  for (const char c : element) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

std::string LiteralOf(ValueKind kind, std::string_view bytes) {
  switch (kind) {
    case ValueKind::kNull:
      break;
    case ValueKind::kBoolean:
      return Get(bytes) != 0 ? "t" : "f";
    case ValueKind::kInteger:
      return std::to_string(Get(bytes));
    case ValueKind::kNumber:
      return fmt::format("{}", std::bit_cast<double>(Get(bytes)));
    case ValueKind::kUuid: {
      base::Uuid id;
      std::copy(bytes.begin(), bytes.end(), id.bytes.begin());
      return id.ToString();
    }
    case ValueKind::kTime:
      return base::FormatTimestamp(
          base::Timestamp(std::chrono::microseconds(Get(bytes) + kMicrosUntil2000)));
    case ValueKind::kText:
      return Quoted(bytes);
  }
  return "NULL";
}

}  // namespace

void ArrayParam::Begin(ValueKind kind, std::size_t size) {
  base::Assert(kind_ == kind || kind_ == ValueKind::kNull, "the elements of an array are alike");
  kind_ = kind;
  ++count_;
  Put(static_cast<std::int32_t>(size), &body_);
}

void ArrayParam::AddNull() {
  ++count_;
  has_null_ = true;
  Put(std::int32_t{-1}, &body_);
}

void ArrayParam::AddBoolean(bool element) {
  Begin(ValueKind::kBoolean, 1);
  body_.push_back(element ? 1 : 0);
}

void ArrayParam::AddInteger(std::int64_t element) {
  Begin(ValueKind::kInteger, sizeof element);
  Put(element, &body_);
}

void ArrayParam::Add(double element) {
  Begin(ValueKind::kNumber, sizeof element);
  Put(std::bit_cast<std::int64_t>(element), &body_);
}

void ArrayParam::Add(const base::Uuid& id) {
  Begin(ValueKind::kUuid, id.bytes.size());
  body_.append(id.bytes.begin(), id.bytes.end());
}

void ArrayParam::Add(base::Timestamp t) {
  Begin(ValueKind::kTime, sizeof(std::int64_t));
  Put(t.time_since_epoch().count() - kMicrosUntil2000, &body_);
}

void ArrayParam::Add(std::string_view element) {
  RefuseNul(element);
  Begin(ValueKind::kText, element.size());
  body_.append(element);
}

template <typename F>
void ArrayParam::ForEach(F&& f) const {
  const std::string_view body = body_;
  for (std::size_t at = 0; at < body.size();) {
    const auto size = static_cast<std::int32_t>(Get(body.substr(at, sizeof(std::int32_t))));
    at += sizeof size;
    if (size < 0) {
      f(std::optional<std::string_view>());
      continue;
    }
    f(std::optional(body.substr(at, static_cast<std::size_t>(size))));
    at += static_cast<std::size_t>(size);
  }
}

// Dimensions, whether there are NULLs, the type, and of the one dimension its size and first index.
std::string ArrayParam::Header(std::uint32_t element_type) const {
  std::string out;
  Put(std::int32_t{count_ == 0 ? 0 : 1}, &out);
  Put(std::int32_t{has_null_ ? 1 : 0}, &out);
  Put(element_type, &out);
  if (count_ == 0) return out;
  Put(count_, &out);
  Put(std::int32_t{1}, &out);
  return out;
}

std::optional<std::string> ArrayParam::Binary(std::uint32_t element_type) const {
  std::string out = Header(element_type);
  out.reserve(out.size() + body_.size());
  if (IsKeptAs(kind_, element_type)) return out += body_;
  bool can_be = true;
  ForEach([&](std::optional<std::string_view> bytes) {
    if (bytes) {
      can_be = can_be && PutAs(kind_, element_type, *bytes, &out);
    } else {
      Put(std::int32_t{-1}, &out);
    }
  });
  if (!can_be) return std::nullopt;
  return out;
}

std::string ArrayParam::Literal() const {
  std::string out = "{";
  ForEach([&](std::optional<std::string_view> bytes) {
    if (out.size() > 1) out += ',';
    out += bytes ? LiteralOf(kind_, *bytes) : "NULL";
  });
  return out + '}';
}

Rows<Column<"id", base::Uuid>, Column<"token", base::Uuid>> LeaseRows(
    const std::vector<Lease>& leases) {
  Rows<Column<"id", base::Uuid>, Column<"token", base::Uuid>> rows;
  for (const Lease& lease : leases) rows.Add(lease.id, lease.token);
  return rows;
}

bool Fits(ValueType type, std::uint32_t database_type) {
  const auto one_of = [database_type](std::initializer_list<std::uint32_t> types) {
    return std::find(types.begin(), types.end(), database_type) != types.end();
  };
  // Numbers of pg_type, which are the same in every database.
  switch (type.kind) {
    case ValueKind::kNull:
      return true;
    case ValueKind::kBoolean:
      return type.array ? one_of({1000}) : one_of({16});
    case ValueKind::kInteger:  // smallint, integer, bigint; numeric and double precision
      return type.array ? one_of({1005, 1007, 1016}) : one_of({21, 23, 20, 1700, 701});
    case ValueKind::kNumber:  // double precision, numeric
      return type.array ? one_of({1022, 1231}) : one_of({701, 1700});
    case ValueKind::kUuid:  // uuid, text
      return type.array ? one_of({2951}) : one_of({2950, 25});
    case ValueKind::kTime:  // timestamptz
      return type.array ? one_of({1185}) : one_of({1184});
    case ValueKind::kText:  // text, varchar, name, json, jsonb, jsonpath, bytea, date, tid
      return type.array ? one_of({1009, 1015, 199, 3807, 1001, 1182, 1010})
                        : one_of({25, 1043, 19, 114, 3802, 4072, 17, 1082, 27});
  }
  return false;
}

namespace {

// Every call is made before main, by one thread.
constinit const Call* last_call = nullptr;

}  // namespace

Call::Call(std::string_view statement, std::span<const Parameter> parameters)
    : statement_(statement), parameters_(parameters), next_(std::exchange(last_call, this)) {}

const Call* Call::First() {
  return last_call;
}

std::vector<std::size_t> Call::Order(const std::vector<std::string>& names) const {
  std::vector<std::size_t> order;
  for (const std::string& name : names) {
    const auto it = std::find_if(parameters_.begin(), parameters_.end(),
                                 [&name](const Parameter& p) { return p.name == name; });
    if (it == parameters_.end()) {
      throw std::logic_error(fmt::format("{}: no @{} is given", statement_, name));
    }
    order.push_back(static_cast<std::size_t>(it - parameters_.begin()));
  }
  if (order.size() != parameters_.size()) {
    throw std::logic_error(fmt::format("{} takes {} parameters, and {} are given", statement_,
                                       order.size(), parameters_.size()));
  }
  return order;
}

}  // namespace vedette::store
