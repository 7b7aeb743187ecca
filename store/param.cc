#include "store/param.h"

#include <fmt/format.h>

#include <initializer_list>
#include <stdexcept>
#include <utility>

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

void ArrayText::Add(std::string_view element) {
  RefuseNul(element);
  Separate();
  text_ += '"';
  // find_first_of would make a call for each character, and parts of jobs are long.
  std::size_t from = 0;
  for (std::size_t i = 0; i < element.size(); ++i) {
    if (element[i] != '"' && element[i] != '\\') continue;
    text_ += element.substr(from, i - from);
    text_ += '\\';
    from = i;
  }
  text_ += element.substr(from);
  text_ += '"';
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
    case ValueKind::kText:  // text, varchar, name, json, jsonb, jsonpath, bytea, date
      return type.array ? one_of({1009, 1015, 199, 3807, 1001, 1182})
                        : one_of({25, 1043, 19, 114, 3802, 4072, 17, 1082});
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
