#include "domain/workflow/block_type.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"
#include "domain/name_table.h"

namespace vedette::domain {
namespace {

using namespace std::string_view_literals;
constexpr std::array kFrames{"LEAD"sv, "COMPANY"sv};
constexpr std::array kCategories{"source"sv, "transform"sv, "enrich"sv, "output"sv};

// The most columns that a message names.
constexpr std::size_t kColumnsNamedMax = 20;

}  // namespace

bool RowFunction::ApplyTexts(const base::CellTexts& row, base::CellTexts* out,
                             std::vector<std::string>* made) const {
  Cells cells;
  cells.reserve(row.size());
  for (const std::string_view cell : row) cells.push_back(base::ReadJsonCell(cell));
  const auto applied = Apply(std::move(cells));
  if (!applied) return false;
  made->clear();
  for (const base::Json& cell : *applied) made->push_back(base::DumpJson(cell));
  out->assign(made->begin(), made->end());
  return true;
}

std::string_view FrameName(Frame frame) {
  return NameIn(kFrames, frame);
}

std::optional<Frame> ParseFrame(std::string_view name) {
  return FindIn<Frame>(kFrames, name);
}

std::string_view BlockCategoryName(BlockCategory category) {
  return NameIn(kCategories, category);
}

std::size_t ColumnAt(const Columns& input, std::string_view name) {
  const auto at = std::find(input.begin(), input.end(), name);
  if (at != input.end()) return static_cast<std::size_t>(at - input.begin());
  const std::size_t named = std::min(input.size(), kColumnsNamedMax);
  std::string message = fmt::format(
      "column {} is not in the input; it has: {}{}", name,
      fmt::join(input.begin(), input.begin() + static_cast<std::ptrdiff_t>(named), ", "),
      named < input.size() ? ", ..." : "");
  const auto near = std::find_if(input.begin(), input.end(), [name](const std::string& other) {
    return base::EqualsIgnoringAsciiCase(base::Trim(other), base::Trim(name));
  });
  if (near != input.end()) message += fmt::format("; \"{}\" differs in case or space", *near);
  throw BindError(message);
}

Columns WithColumns(Columns input, const Columns& added) {
  for (const std::string& name : added) {
    if (std::find(input.begin(), input.end(), name) == input.end()) input.push_back(name);
  }
  return input;
}

std::vector<std::string> NamesIn(const base::Json& names) {
  std::vector<std::string> out;
  out.reserve(names.size());
  for (const base::Json& name : names) out.push_back(name.get<std::string>());
  return out;
}

}  // namespace vedette::domain
