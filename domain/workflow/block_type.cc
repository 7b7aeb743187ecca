#include "domain/workflow/block_type.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "domain/text/name_table.h"
#include "domain/workflow/blocks/blocks.h"

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
  if (input.empty()) {
    throw BindError(fmt::format("column {} is not in the input; it has no columns", name));
  }
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

std::string BoundSpecsJson(const BoundSpecs& bound) {
  base::Json stored{{"block_id", bound.block_id}, {"specs", bound.specs}, {"columns", bound.input}};
  if (!bound.terms.is_null()) stored["terms"] = bound.terms;
  return base::DumpJson(stored);
}

BoundSpecs ReadBoundSpecs(const std::string& json) {
  const base::Json stored = base::ReadJsonCell(json);
  const auto terms = stored.find("terms");
  return {stored.at("block_id").get<std::string>(), stored.at("specs"),
          NamesIn(stored.at("columns")), terms == stored.end() ? base::Json() : *terms};
}

namespace {

// One a line.
constexpr auto kTypes = std::to_array<const BlockType*>({
    &kWebhookBlock,
    &kReadCsvBlock,
    &kFilterBlock,
    &kSelectColumnsBlock,
    &kDedupeBlock,
#ifdef VEDETTE_PHONES
    &kVerifyPhoneBlock,
#endif
    &kEnrichLeadBlock,
    &kEnrichCompanyBlock,
    &kFindEmailBlock,
    &kVerifyEmailBlock,
    &kReverseEmailBlock,
    &kVerifyAgeBlock,
    &kOutgoingWebhookBlock,
    &kMonitorBlock,
});

}  // namespace

std::span<const BlockType* const> BlockTypes() {
  return kTypes;
}

const BlockType* FindBlockType(std::string_view name) {
  const auto* const at = std::find_if(kTypes.begin(), kTypes.end(),
                                      [name](const BlockType* type) { return type->name == name; });
  return at == kTypes.end() ? nullptr : *at;
}

}  // namespace vedette::domain
