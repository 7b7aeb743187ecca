#include "store/param.h"

#include <fmt/format.h>

#include <stdexcept>

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

Param::Param(double v) : text_(fmt::format("{}", v)) {}

void ArrayText::Add(std::string_view element) {
  RefuseNul(element);
  Separate();
  text_ += '"';
  std::size_t from = 0;
  for (;;) {
    const std::size_t special = element.find_first_of("\"\\", from);
    text_ += element.substr(from, special - from);
    if (special == std::string_view::npos) break;
    text_ += '\\';
    text_ += element[special];
    from = special + 1;
  }
  text_ += '"';
}

Rows<base::Uuid, base::Uuid> LeaseRows(const std::vector<Lease>& leases) {
  Rows<base::Uuid, base::Uuid> rows;
  for (const Lease& lease : leases) rows.Add(lease.id, lease.token);
  return rows;
}

}  // namespace vedette::store
