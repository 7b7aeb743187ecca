#include "store/param.h"

#include <fmt/format.h>

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

Rows<base::Uuid, base::Uuid> LeaseRows(const std::vector<Lease>& leases) {
  Rows<base::Uuid, base::Uuid> rows;
  for (const Lease& lease : leases) rows.Add(lease.id, lease.token);
  return rows;
}

}  // namespace vedette::store
