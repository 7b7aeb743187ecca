#include "domain/workflow/lookup_rows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "domain/email/find_request.h"
#include "domain/email/lead.h"
#include "domain/workflow/cells.h"

namespace vedette::domain {

using base::Json;

Json LookupPricingJson(const LookupPricing& terms) {
  return {{"charge", ChargeRuleName(terms.charge)},
          {"verify_mc", terms.verify_mc},
          {"minimum_age", terms.minimum_age}};
}

LookupPricing ReadLookupPricing(const Json& json) {
  return {ParseChargeRule(json.at("charge").get<std::string>()),
          json.at("verify_mc").get<std::int64_t>(), json.at("minimum_age").get<int>()};
}

LookupColumns::LookupColumns(Columns input, std::initializer_list<std::string_view> added,
                             std::string_view error)
    : output_(std::move(input)) {
  for (const std::string_view name : added) {
    added_.push_back(PlaceOf(std::string(name), &output_));
  }
  error_at_ = PlaceOfError(std::string(error), &output_);
}

void LookupColumns::Set(std::size_t added, const Json& value, TextCells* cells) const {
  cells->at(added_.at(added)) = base::DumpJson(Storable(value));
}

void LookupColumns::Replace(std::size_t added, const Json& value, TextCells* cells) const {
  if (!value.is_null() && value != TextAt(*cells, added_.at(added))) Set(added, value, cells);
}

void LookupColumns::Fill(std::size_t added, const Json& value, TextCells* cells) const {
  if (!HasValue(cells->at(added_.at(added)))) Replace(added, value, cells);
}

TextCells LookupColumns::Failed(const TextCells& row, const RowFault& fault) const {
  TextCells cells = Begin(row);
  cells.at(error_at_) = base::DumpJson(Storable(fault.code + ": " + fault.message));
  return cells;
}

LeadColumns::LeadColumns(const Json& given, const Columns& input,
                         std::initializer_list<std::string_view> keys) {
  for (const std::string_view key : keys) {
    const std::string name(key);
    if (const auto column = given.find(name); column != given.end()) {
      columns_.emplace_back(name, ColumnAt(input, column->get_ref<const std::string&>()));
    } else if (const auto at = std::find(input.begin(), input.end(), name); at != input.end()) {
      columns_.emplace_back(name, static_cast<std::size_t>(at - input.begin()));
    }
  }
  if (!columns_.empty()) return;
  throw BindError(fmt::format(
      "the input has none of the columns {}; say in the specs, under columns, which it has instead",
      fmt::join(keys.begin(), keys.end(), ", ")));
}

RowLead LeadColumns::LeadOf(const TextCells& row) const {
  Json lead = Json::object();
  for (const auto& [key, place] : columns_) {
    std::string text = TextAt(row, place);
    if (!text.empty()) lead[key] = std::move(text);
  }
  const auto read = ReadLead(lead);
  const auto* fault = std::get_if<LeadFault>(&read);
  if (fault == nullptr) return AskedLead{std::move(lead)};
  if (fault->kind == LeadFault::Kind::kEmpty) return EmptyRow();
  return RowFault{"invalid_lead", fault->key + " " + fault->message};
}

std::string TextAt(const TextCells& row, std::size_t place) {
  if (place >= row.size()) return "";
  return CellValue(base::ReadJsonCell(row[place])).value_or(std::string());
}

std::size_t PlaceOfAddress(const Json& specs, const Columns& input) {
  return ColumnAt(input, specs.at("email_column").get_ref<const std::string&>());
}

RowFault EmptyRow() {
  return {"empty_row", "the row has no value to look up"};
}

std::string JobTypeOf(const BlockType& type) {
  const std::string name(type.name);
  return type.work == BlockWork::kLookup ? "row_" + name : name;
}

}  // namespace vedette::domain
