#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/json_rows.h"
#include "domain/job/job.h"

// What a block of a workflow is: its words, what it is configured with, which columns it gives, and
// what it does to a row. Pure; any thread. A block stands in a file of its own (domain/workflow/
// blocks/), which defines one BlockType; block_type.cc lists them.
namespace vedette::domain {

// What a row is about. A source says it, every other block keeps it.
enum class Frame { kLead, kCompany };
std::string_view FrameName(Frame frame);  // "LEAD", "COMPANY"
std::optional<Frame> ParseFrame(std::string_view name);

enum class BlockCategory { kSource, kTransform, kEnrich, kOutput };
std::string_view BlockCategoryName(BlockCategory category);  // "source", ...

// The maker of a block's output.
enum class BlockWork {
  kGiven,        // nobody: the request brought its parts
  kReadsFile,    // a worker, out of an uploaded file
  kRowFunction,  // a worker: each row alone, by the function that `make` gives
  kDedupe,       // a worker: rows by what the parts before have shown, so one part after the other
  kMonitor,      // a worker: a monitor of its rows, one part after the other
  kResearch,     // a worker: each row by the probe of its tier
  kLookup,       // a worker: each row by a lookup (lookup_rows.h)
  kAtEnd,        // nobody: it has no rows of its own, and acts when the run ends
};

// The price of a block's row, and so whether it is charged (api/tenant/workflows/workflow_calls.h).
enum class BlockPrice { kFree, kTier, kFindEmail, kVerifyEmail, kReverseEmail, kVerifyAge };

using Columns = std::vector<std::string>;  // of a block's output, each name once
using Cells = std::vector<base::Json>;     // a row in the order of its columns; null: no value

// A block's columns cannot be worked out from its input: the sentence is for the client.
class BindError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// What a block of kRowFunction does to a row. Immutable.
class RowFunction {
 public:
  virtual ~RowFunction() = default;
  // The row that comes out, in the order of the output's columns, or nothing: it is dropped.
  virtual std::optional<Cells> Apply(Cells row) const = 0;
  // The same of a row whose cells are still texts: the row that comes out is in `out`, or false is
  // returned. A function that passes most cells on reads the others alone; the texts that it writes
  // itself are in `made`, and `out` points into them. Throws std::invalid_argument for a cell that
  // cannot be read.
  virtual bool ApplyTexts(const base::CellTexts& row, base::CellTexts* out,
                          std::vector<std::string>* made) const;
};

class LookupRows;     // lookup_rows.h
struct KnownFinders;  // domain/email/finders.h

// What is wrong with specs that fit their schema.
struct SpecFault {
  base::Json at;  // array: the way from the specs on
  std::string type;
  std::string msg;
  base::Json input = nullptr;
  base::Json ctx = nullptr;  // as ValidationFault's
};

struct BlockType {
  std::string_view name;
  std::string_view description;
  std::string_view specs_schema;  // JSON Schema: what is served is what is enforced
  BlockCategory category;
  BlockWork work;
  Lane lane = Lane::kTransform;
  std::optional<Frame> takes{};       // empty: either
  std::chrono::milliseconds pace{0};  // how long a row typically takes
  BlockPrice price = BlockPrice::kFree;
  bool drops_rows = false;
  // The columns of the output. `specs` are whole: they fit the schema, defaults filled in. Throws
  // BindError.
  Columns (*bind)(const base::Json& specs, const Columns& input) = nullptr;
  // Makes the function of a kRowFunction block; after bind. It may keep references to neither.
  std::unique_ptr<const RowFunction> (*make)(const base::Json& specs,
                                             const Columns& input) = nullptr;
  // The lookup of a kLookup block: the type of the block of jobs whose lookup is asked
  // ("find_email"), and what is asked about a row; after bind.
  std::string_view lookup{};
  std::unique_ptr<const LookupRows> (*make_lookup)(const base::Json& specs,
                                                   const Columns& input) = nullptr;
  // Null: the schema says everything.
  std::optional<SpecFault> (*validate)(const base::Json& specs) = nullptr;
  // Null: the specs name no providers. Else all that is wrong with those that they name.
  std::vector<SpecFault> (*validate_finders)(const base::Json& specs,
                                             const KnownFinders& known) = nullptr;
  // The member of the specs that is a URL of the client's to send to, or null; empty: there is
  // none.
  std::string_view url_member{};
};

// The place of the column in `input`. Throws BindError that names the columns there are.
std::size_t ColumnAt(const Columns& input, std::string_view name);
// The columns of `input`, with each of `added` in the place of the one of its name, or behind.
Columns WithColumns(Columns input, const Columns& added);

// The names of an array of strings.
std::vector<std::string> NamesIn(const base::Json& names);

// What a block of a run is stored with: everything that its work needs, so that a worker looks at
// no other block.
struct BoundSpecs {
  std::string block_id;
  base::Json specs = base::Json::object();  // with the defaults
  Columns input;                            // the columns of its input; a source has its own
  // The part of the configuration that the run keeps from its start on: LookupPricingJson of a
  // lookup.
  base::Json terms = nullptr;
};

// JSON: {"block_id", "specs", "columns", "terms"?}.
std::string BoundSpecsJson(const BoundSpecs& bound);
// Throws std::exception for anything else.
BoundSpecs ReadBoundSpecs(const std::string& json);

// The blocks that workflows can have. A new one is a file of domain/workflow/blocks/ and a line of
// block_type.cc; one that asks services also has a runner in worker/blocks/.

// In the order in which they are shown.
std::span<const BlockType* const> BlockTypes();

// Null for an unknown name.
const BlockType* FindBlockType(std::string_view name);

inline constexpr std::string_view kWebhookBlockName = "webhook";
inline constexpr std::string_view kReadCsvBlockName = "read_csv";
inline constexpr std::string_view kOutgoingWebhookBlockName = "outgoing_webhook";
inline constexpr std::string_view kMonitorBlockName = "monitor";

}  // namespace vedette::domain
