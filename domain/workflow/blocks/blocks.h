#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "domain/monitor/enums.h"
#include "domain/monitor/observation.h"
#include "domain/monitor/row_values.h"
#include "domain/workflow/block_type.h"
#include "domain/workflow/cells.h"

// The blocks, each in the file of its name, and what those of them that work on more than a row, or
// ask a probe, have for their workers. Pure.
namespace vedette::domain {

// Internal to domain/workflow/: the blocks, and what several of them validate.

// What is wrong with the first wrong field of a struct: with its name, which is a column's behind
// `prefix`, or with its description.
std::optional<SpecFault> ValidateFields(const base::Json& fields, std::string_view prefix = {});

extern const BlockType kWebhookBlock;
extern const BlockType kReadCsvBlock;
extern const BlockType kFilterBlock;
extern const BlockType kSelectColumnsBlock;
extern const BlockType kDedupeBlock;
extern const BlockType kEnrichLeadBlock;
extern const BlockType kEnrichCompanyBlock;
extern const BlockType kFindEmailBlock;
extern const BlockType kVerifyEmailBlock;
extern const BlockType kReverseEmailBlock;
extern const BlockType kVerifyAgeBlock;
#ifdef VEDETTE_PHONES
extern const BlockType kVerifyPhoneBlock;
#endif
extern const BlockType kOutgoingWebhookBlock;
extern const BlockType kMonitorBlock;

// The key by which the block `dedupe` recognises a row that came before. Immutable.
class DedupeKeys {
 public:
  // Throws BindError for an unknown column.
  DedupeKeys(const base::Json& specs, const Columns& input);

  // 16 bytes, equal for rows whose key cells are; nothing where all of them are blank: such a row
  // is kept.
  std::optional<std::string> KeyOf(const base::CellTexts& row) const;

 private:
  std::vector<std::size_t> columns_;
};

// What the blocks enrich_lead and enrich_company ask about a row, and where the answer goes.

struct EnrichPlan {
  Columns input;
  std::vector<std::string> keys;  // of `input`, each as a member of an object begins: "name":
  Columns output;
  Tier tier = Tier::kLow;
  std::vector<WatchedField> fields;
  std::optional<std::string> research_plan;
  enum class Present { kKeep, kOverwrite } present = Present::kKeep;  // a value that is there
  // Places in the output.
  std::vector<std::size_t> field_at;  // of `fields`
  std::size_t sources_at = 0;
  std::size_t confidence_at = 0;
  std::size_t error_at = 0;
};
// `specs` are whole.
EnrichPlan PlanEnrich(const base::Json& specs, const Columns& input);

// The row's values by column, as the probe is told them: the text of an object, in which each value
// is as the row has it. Throws std::invalid_argument for a cell that cannot be read.
std::string SubjectText(const EnrichPlan& plan, const TextCells& row);
// The row with what was observed; its error is null.
TextCells EnrichedRow(const EnrichPlan& plan, const TextCells& row, const Observation& observed);
// The row as it was, with its error.
TextCells FailedRow(const EnrichPlan& plan, const TextCells& row, const std::string& error);

// What the block `monitor` makes of the rows of a run: a monitor, and its rows.

// The monitor as the specs of the block say it. Members ending in _json are JSON text.
struct MonitorOrder {
  std::string name;
  std::vector<std::string> key_columns;
  std::string struct_json;
  std::string frequency_text;
  std::chrono::seconds frequency{0};
  Tier tier = Tier::kLow;
  std::optional<std::string> research_plan;
  std::optional<std::string> metadata_json;
  std::vector<NotificationType> webhook_event_types;
  int confirm_after = 1;
  int missing_confirmations = 2;
};
// `specs` are whole.
MonitorOrder ReadMonitorOrder(const base::Json& specs);

// How a row of the run becomes a row of the monitor, and what the block says of it. Immutable.
class MonitorRows {
 public:
  // `specs` are whole. Throws BindError for an unknown key column.
  MonitorRows(const base::Json& specs, const Columns& input);

  // The columns of the block's output: those of its input, monitor_row_id and an error.
  const Columns& output() const { return output_; }

  // A cell without a value is left out; an object or an array goes along as its JSON text.
  RowValues ValuesOf(const Cells& row) const;
  // The row with the id of the monitor's row, or with why it was not added.
  Cells Added(Cells row, const std::string& row_id) const;
  Cells NotAdded(Cells row, const std::string& error) const;

 private:
  Cells Widened(Cells row) const;

  Columns input_;
  Columns output_;
  ColumnRoles roles_;
  std::size_t id_at_ = 0;     // of the output
  std::size_t error_at_ = 0;  // likewise
};

}  // namespace vedette::domain
