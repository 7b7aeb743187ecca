#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "domain/money/money.h"
#include "domain/workflow/cells.h"

// What the blocks of kLookup ask about a row, and where the answer goes. A lookup of a run is the
// lookup that the route of its name starts: a row becomes a lead, and what clients would see of it
// (domain/email/found.h, domain/people/people_answer.h) becomes columns. Pure.
namespace vedette::domain {

// What of the configuration a lookup of a run keeps from the run's start on.
struct LookupPricing {
  ChargeRule charge = ChargeRule::kFound;
  std::int64_t verify_mc = 0;  // of a lead's own address
  int minimum_age = 0;         // a younger person has no result; 0 is off

  bool operator==(const LookupPricing&) const = default;
};
base::Json LookupPricingJson(const LookupPricing& terms);
// Throws std::exception for anything else.
LookupPricing ReadLookupPricing(const base::Json& json);

// Why nobody is asked about a row: a code and a sentence, without anything of the row.
struct RowFault {
  std::string code;
  std::string message;
};

// What is to be looked up of a row: a lead; why there is none; or, where nobody has to be asked,
// the row that comes out.
struct AskedLead {
  base::Json lead;
};
using RowLead = std::variant<AskedLead, RowFault, TextCells>;

// The columns of such a block: those of its input, what it adds, and its error.
class LookupColumns {
 public:
  // `added` are numbered from 0.
  LookupColumns(Columns input, std::initializer_list<std::string_view> added,
                std::string_view error);

  const Columns& output() const { return output_; }
  TextCells Begin(const TextCells& row) const { return Widened(row, output_.size()); }
  // The cell becomes the value, also where that is null.
  void Set(std::size_t added, const base::Json& value, TextCells* cells) const;
  // The same, but a null, and the text of what is there, leave what is there.
  void Replace(std::size_t added, const base::Json& value, TextCells* cells) const;
  // The same where the cell has no value.
  void Fill(std::size_t added, const base::Json& value, TextCells* cells) const;
  TextCells Failed(const TextCells& row, const RowFault& fault) const;

 private:
  Columns output_;
  std::vector<std::size_t> added_;  // places in the output
  std::size_t error_at_;
};

// Bound to the specs and the input of one block. Immutable; any thread.
class LookupRows {
 public:
  virtual ~LookupRows() = default;

  // What the lookup is asked besides the lead: the specs of its block of jobs.
  virtual std::string RequestJson(const LookupPricing& terms) const = 0;
  // Throws std::invalid_argument for a row that cannot be read.
  virtual RowLead LeadOf(const TextCells& row) const = 0;
  // The row with what the lookup has found, which is its cell. Throws std::exception where it is no
  // such cell.
  virtual TextCells Answered(const TextCells& row, const base::Json& cell) const = 0;
  // The row as it was, with its error.
  TextCells Failed(const TextCells& row, const RowFault& fault) const {
    return columns_.Failed(row, fault);
  }
  const Columns& output() const { return columns_.output(); }

 protected:
  explicit LookupRows(LookupColumns columns) : columns_(std::move(columns)) {}

  const LookupColumns columns_;
};

// BlockType::bind and make_lookup of a block whose rows are `Rows`, made of specs and input.
template <typename Rows>
Columns BindLookup(const base::Json& specs, const Columns& input) {
  return Rows(specs, input).output();
}
template <typename Rows>
std::unique_ptr<const LookupRows> MakeLookup(const base::Json& specs, const Columns& input) {
  return std::make_unique<Rows>(specs, input);
}

// Which columns of the input make the known keys of a lead.
class LeadColumns {
 public:
  // `given`: object of key and column. A key that is not in it is the column of its own name, where
  // there is one. Throws BindError for an unknown column, and where no column makes a key.
  LeadColumns(const base::Json& given, const Columns& input,
              std::initializer_list<std::string_view> keys);

  // The lead, or why it is none: `empty_row`, `invalid_lead`.
  RowLead LeadOf(const TextCells& row) const;

 private:
  std::vector<std::pair<std::string, std::size_t>> columns_;  // key, place in the input
};

// The text of the cell at this place; empty where it has no value.
std::string TextAt(const TextCells& row, std::size_t place);
// The place of the column that the specs name under email_column. Throws BindError where there is
// none.
std::size_t PlaceOfAddress(const base::Json& specs, const Columns& input);
// The fault of a row without a value to look at.
RowFault EmptyRow();

// What job_block.type is for a block. That of a lookup differs from the type of the route's own
// jobs, whose specs are others.
std::string JobTypeOf(const BlockType& type);

}  // namespace vedette::domain
