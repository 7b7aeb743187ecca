#include "domain/auth/cell.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace vedette::domain {
namespace {

bool IsBase62(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return base::IsAsciiDigit(c) || base::IsAsciiLetter(c); });
}

}  // namespace

bool IsCellId(std::string_view text) {
  return !text.empty() && text.size() <= kCellCharsMax &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return base::IsAsciiDigit(c) || (c >= 'a' && c <= 'z'); });
}

std::string CellName(std::string_view cell) {
  return cell.empty() ? "the first cell" : "cell " + std::string(cell);
}

std::string_view CellWord(std::string_view cell) {
  return cell.empty() ? kFirstCell : cell;
}

std::optional<std::string_view> CellOfWord(std::string_view word) {
  if (word == kFirstCell) return std::string_view();
  return IsCellId(word) ? std::optional(word) : std::nullopt;
}

std::string CellPrefix(std::string_view prefix, std::string_view cell) {
  std::string text(prefix);
  if (!cell.empty()) text.append(cell).append("_");
  return text;
}

std::optional<std::string_view> CellOfSecret(std::string_view text, std::string_view prefix,
                                             std::size_t chars) {
  if (text.size() < prefix.size() + chars || !text.starts_with(prefix)) return std::nullopt;
  if (!IsBase62(text.substr(text.size() - chars))) return std::nullopt;
  std::string_view cell = text.substr(prefix.size(), text.size() - chars - prefix.size());
  if (cell.empty()) return cell;
  if (!cell.ends_with('_')) return std::nullopt;
  cell.remove_suffix(1);
  return IsCellId(cell) ? std::optional(cell) : std::nullopt;
}

std::string WithCell(std::string_view cell, std::string_view text) {
  return cell.empty() ? std::string(text) : std::string(cell).append(".").append(text);
}

CellAndText SplitCell(std::string_view text) {
  const std::size_t dot = text.find('.');
  if (dot == std::string_view::npos || !IsCellId(text.substr(0, dot))) return {{}, text};
  return {text.substr(0, dot), text.substr(dot + 1)};
}

std::string CellQuery(std::string_view cell) {
  return cell.empty() ? std::string() : "&" + std::string(kCellParameter) + "=" + std::string(cell);
}

std::string DashboardUrl(std::string_view public_url, std::string_view cell) {
  std::string url = std::string(public_url) + "/dashboard";
  if (!cell.empty()) url += fmt::format("?{}={}", kCellParameter, cell);
  return url;
}

std::string MonitorsUrl(std::string_view public_url, bool has_dashboard, std::string_view cell) {
  if (public_url.empty()) return {};
  if (!has_dashboard) return std::string(public_url) + "/monitors";
  return DashboardUrl(public_url, cell) + "#/monitors";
}

}  // namespace vedette::domain
