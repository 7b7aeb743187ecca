#include "worker/blocks/lookup_block.h"

#include <exception>
#include <optional>
#include <utility>

#include "base/json.h"
#include "domain/email/find_request.h"
#include "domain/workflow/block_type.h"
#include "domain/workflow/lookup_rows.h"

namespace vedette::worker {
namespace {

class Runner final : public RowRunner {
 public:
  Runner(std::unique_ptr<const domain::LookupRows> rows, std::shared_ptr<RowRunner> lookup)
      : rows_(std::move(rows)), lookup_(std::move(lookup)) {}

  void Start(RowRequest request, std::function<void(RowResult)> done) override {
    const Cells cells = std::move(request.cells);
    std::optional<domain::RowLead> asked;
    try {
      asked = rows_->LeadOf(cells);
    } catch (const std::exception&) {
      // The message may quote the row, which is personal.
      return done(RowFailure{"row_unreadable", "the row could not be read", false, std::nullopt});
    }
    if (const auto* fault = std::get_if<domain::RowFault>(&*asked)) {
      return done(EndWith(cells, {fault->code, fault->message}));
    }
    if (auto* ended = std::get_if<domain::TextCells>(&*asked)) {
      return done(RowDone{std::move(*ended), std::nullopt, std::nullopt});
    }
    domain::FindRow lead{std::move(std::get<domain::AskedLead>(*asked).lead)};
    request.cells = {base::DumpJson(domain::FindRowCell(lead))};
    lookup_->Start(std::move(request), [this, cells, done = std::move(done)](RowResult result) {
      auto* ended = std::get_if<RowDone>(&result);
      if (ended == nullptr) return done(std::move(result));
      // `done` of the last row may destroy this runner.
      done(ResultOf(cells, std::move(*ended)));
    });
  }

  RowDone EndWith(const Cells& cells, RowError error) const override {
    RowDone done;
    done.cells = rows_->Failed(cells, {error.code, error.message});
    done.error = std::move(error);
    return done;
  }

  std::optional<std::chrono::milliseconds> RowTimeout() const override {
    return lookup_->RowTimeout();
  }

 private:
  RowResult ResultOf(const Cells& cells, RowDone ended) const {
    if (ended.error) return EndWith(cells, std::move(*ended.error));
    RowDone done;
    try {
      done.cells = rows_->Answered(cells, base::ParseJsonOrThrow(ended.cells.at(0)));
    } catch (const std::exception&) {
      return EndWith(cells, {"answer_unreadable", "what was found could not be read"});
    }
    done.charge_mc = ended.charge_mc;
    done.recorded = std::move(ended.recorded);
    return done;
  }

  const std::unique_ptr<const domain::LookupRows> rows_;
  const std::shared_ptr<RowRunner> lookup_;
};

}  // namespace

LookupBlock::LookupBlock(const domain::BlockType& type, RowBlock& lookup)
    : type_(type), job_type_(domain::JobTypeOf(type)), lookup_(lookup) {}

std::variant<std::shared_ptr<RowRunner>, std::string> LookupBlock::Bind(
    const std::string& specs_json, std::int64_t price_mc) {
  try {
    const domain::BoundSpecs bound = domain::ReadBoundSpecs(specs_json);
    auto rows = type_.make_lookup(bound.specs, bound.input);
    auto lookup = lookup_.Bind(rows->RequestJson(domain::ReadLookupPricing(bound.terms)), price_mc);
    if (auto* sentence = std::get_if<std::string>(&lookup)) return std::move(*sentence);
    return std::make_shared<Runner>(std::move(rows),
                                    std::get<std::shared_ptr<RowRunner>>(std::move(lookup)));
  } catch (const std::exception&) {
    return "the specs of the block cannot be read by this version";
  }
}

std::vector<std::unique_ptr<RowBlock>> LookupBlocks(const std::vector<RowBlock*>& lookups) {
  std::vector<std::unique_ptr<RowBlock>> blocks;
  for (const domain::BlockType* type : domain::BlockTypes()) {
    if (type->work != domain::BlockWork::kLookup) continue;
    for (RowBlock* lookup : lookups) {
      if (lookup->type() != type->lookup) continue;
      blocks.push_back(std::make_unique<LookupBlock>(*type, *lookup));
    }
  }
  return blocks;
}

}  // namespace vedette::worker
