#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "domain/workflow/blocks/blocks.h"

// Keeps the columns that it lists, in that order, under the names that it gives them.
namespace vedette::domain {
namespace {

using base::Json;

constexpr std::string_view kSchema = R"({
  "type": "object", "additionalProperties": false, "required": ["columns"],
  "properties": {
    "columns": {"type": "array", "minItems": 1, "maxItems": 1024,
      "items": {"type": "object", "additionalProperties": false, "required": ["name"],
        "properties": {
          "name": {"type": "string", "minLength": 1, "maxLength": 200},
          "as": {"type": ["string", "null"], "minLength": 1, "maxLength": 200, "default": null,
            "description": "The column's new name."}
        }}}
  }
})";

Columns Bind(const Json& specs, const Columns& input) {
  Columns output;
  for (const Json& column : specs.at("columns")) {
    const auto& name = column.at("name").get_ref<const std::string&>();
    ColumnAt(input, name);
    const Json& as = column.at("as");
    const std::string& shown = as.is_null() ? name : as.get_ref<const std::string&>();
    if (std::find(output.begin(), output.end(), shown) != output.end()) {
      throw BindError(fmt::format("two columns would be called {}", shown));
    }
    output.push_back(shown);
  }
  return output;
}

class SelectColumns final : public RowFunction {
 public:
  SelectColumns(const Json& specs, const Columns& input) {
    for (const Json& column : specs.at("columns")) {
      from_.push_back(ColumnAt(input, column.at("name").get_ref<const std::string&>()));
    }
  }

  std::optional<Cells> Apply(Cells row) const override {
    Cells output;
    output.reserve(from_.size());
    for (const std::size_t column : from_) output.push_back(row.at(column));
    return output;
  }

  bool ApplyTexts(const base::CellTexts& row, base::CellTexts* out,
                  std::vector<std::string>* /*made*/) const override {
    out->clear();
    for (const std::size_t column : from_) out->push_back(row.at(column));
    return true;
  }

 private:
  std::vector<std::size_t> from_;  // a column may be there twice, under two names
};

std::unique_ptr<const RowFunction> Make(const Json& specs, const Columns& input) {
  return std::make_unique<SelectColumns>(specs, input);
}

}  // namespace

const BlockType kSelectColumnsBlock{
    .name = "select_columns",
    .description = "Keeps the listed columns, in this order, and renames them where asked.",
    .specs_schema = kSchema,
    .category = BlockCategory::kTransform,
    .work = BlockWork::kRowFunction,
    .bind = Bind,
    .make = Make,
};

}  // namespace vedette::domain
