#include "worker/blocks/part_work.h"

#include <set>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "domain/job/job.h"
#include "domain/monitor/row_values.h"
#include "domain/text/csv.h"
#include "domain/workflow/block_type.h"
#include "domain/workflow/blocks/blocks.h"
#include "domain/workflow/cells.h"
#include "store/jobs/runs.h"

namespace vedette::worker {

PartTurn::PartTurn(const base::Clock& clock, std::chrono::nanoseconds time_max,
                   std::chrono::nanoseconds deadline)
    : clock_(clock), deadline_(deadline), left_(time_max) {}

void PartTurn::Begin() {
  thread_time_ = base::ThreadTime();
  next_look_ = {};
}

void PartTurn::Ask() {
  if (stopped()) throw PartStopped(PartStop::kUnwanted);
  const auto now = clock_.SinceBoot();
  if (now >= deadline_) throw PartStopped(PartStop::kUnwanted);
  if (now >= next_look_) Look(now);
}

void PartTurn::Look(std::chrono::nanoseconds now) {
  const auto thread_time = base::ThreadTime();
  left_ -= thread_time - thread_time_;
  thread_time_ = thread_time;
  if (left_.count() <= 0) throw PartStopped(PartStop::kOverdue);
  // A thread takes no more of the processor's time than passes.
  next_look_ = now + left_;
}

namespace {

using domain::RowsPart;

store::JobMadePart Made(int part, RowsPart rows) {
  return {part, std::move(rows.rows_json), rows.row_count};
}

store::JobFault Fault(std::string sentence) {
  return {std::string(domain::kReasonBlockFailed), std::move(sentence)};
}

class FunctionWork final : public PartWork {
 public:
  FunctionWork(std::unique_ptr<const domain::RowFunction> function, std::size_t width)
      : function_(std::move(function)), width_(width) {}

  PartStep Make(const PartRequest& request, PartTurn& turn) const override {
    PartOutput output;
    domain::RowsWriter made(request.bytes_max);
    base::CellTexts applied;
    std::vector<std::string> texts;
    domain::ForEachRow(request.rows_json, width_, [&](const base::CellTexts& row) {
      turn.Ask();
      ++output.rows_done;
      if (function_->ApplyTexts(row, &applied, &texts)) made.Add(applied);
    });
    output.parts.push_back(Made(request.part, made.Take()));
    return output;
  }

 private:
  const std::unique_ptr<const domain::RowFunction> function_;
  const std::size_t width_;  // of its input's rows
};

// Its parts are made one after the other, so that what the earlier ones have shown is recorded.
class DedupeWork final : public PartWork {
 public:
  DedupeWork(domain::DedupeKeys keys, std::size_t width) : keys_(std::move(keys)), width_(width) {}

  PartStep Make(const PartRequest& request, PartTurn& turn) const override {
    const auto rows = std::make_shared<Keyed>();
    std::vector<std::string> asked;
    domain::ForEachRow(request.rows_json, width_, [&](const base::CellTexts& row) {
      turn.Ask();
      rows->push_back({row, keys_.KeyOf(row)});
      if (rows->back().key) asked.push_back(*rows->back().key);
    });
    // Nothing is before the first one.
    if (asked.empty() || request.part == 0) return Keep(request, *rows, {}, turn);
    return PartRead{
        [&request, rows, asked = std::move(asked)](store::Session& session) -> PartCompute {
          return [&request, rows,
                  seen = store::ReadSeenKeys(session, request.job_id, request.block, asked)](
                     PartTurn& next) { return Keep(request, *rows, seen, next); };
        }};
  }

 private:
  struct KeyedRow {
    base::CellTexts cells;  // points into the request
    std::optional<std::string> key;
  };
  using Keyed = std::vector<KeyedRow>;

  // `seen`: what the parts before have shown.
  static PartOutput Keep(const PartRequest& request, const Keyed& rows, std::set<std::string> seen,
                         PartTurn& turn) {
    PartOutput output;
    output.rows_done = static_cast<int>(rows.size());
    domain::RowsWriter kept(request.bytes_max);
    for (const auto& [cells, key] : rows) {
      turn.Ask();
      if (key && !seen.insert(*key).second) continue;
      if (key) output.keys.push_back(*key);
      kept.Add(cells);
    }
    output.parts.push_back(Made(request.part, kept.Take()));
    return output;
  }

  const domain::DedupeKeys keys_;
  const std::size_t width_;
};

// Rules 6 and 7 of monitors: a row without a key, or with that of an earlier one, is not added.
constexpr const char* kNoKey = "missing_key_value: the row has no value in any key column";
constexpr const char* kSameKey = "duplicate_key: an earlier row has the same key values";
constexpr const char* kRowTooLarge = "row_too_large: the row has more bytes than one may have";

// Its parts are made one after the other, so that the rows of the earlier ones are in the monitor.
class MonitorWork final : public PartWork {
 public:
  MonitorWork(domain::MonitorRows rows, std::string block_id, std::size_t width)
      : rows_(std::move(rows)), block_id_(std::move(block_id)), width_(width) {}

  PartStep Make(const PartRequest& request, PartTurn& turn) const override {
    const auto rows = std::make_shared<Split>();
    rows->cells = domain::ReadRows(request.rows_json, width_);
    std::vector<std::string> asked;
    for (const domain::Cells& row : rows->cells) {
      turn.Ask();
      rows->values.push_back(rows_.ValuesOf(row));
      if (rows->values.back().has_key) asked.push_back(rows->values.back().key_hash);
    }
    if (asked.empty()) return Add(request, rows.get(), {}, turn);
    return PartRead{[this, &request, rows,
                     asked = std::move(asked)](store::Session& session) -> PartCompute {
      return [this, &request, rows,
              known = store::ReadMonitorKeys(session, MonitorOf(request), asked)](PartTurn& next) {
        return Add(request, rows.get(), known, next);
      };
    }};
  }

 private:
  struct Split {
    std::vector<domain::Cells> cells;
    std::vector<domain::RowValues> values;  // of each of them
  };

  base::Uuid MonitorOf(const PartRequest& request) const {
    return domain::RunMonitorId(request.job_id, block_id_);
  }

  // Takes the rows. `known`: the keys that the monitor has already.
  PartOutput Add(const PartRequest& request, Split* rows, std::set<std::string> known,
                 PartTurn& turn) const {
    store::JobMonitorRows made;
    made.monitor_id = MonitorOf(request);
    PartOutput output;
    output.rows_done = static_cast<int>(rows->cells.size());
    domain::RowsWriter written(request.bytes_max);
    for (std::size_t i = 0; i < rows->cells.size(); ++i) {
      turn.Ask();
      domain::RowValues& values = rows->values[i];
      if (const char* why = WhyNot(values, request.row_bytes_max, &known)) {
        ++output.row_errors;
        written.Add(rows_.NotAdded(std::move(rows->cells[i]), why));
        continue;
      }
      made.row_ids.push_back(domain::RunMonitorRowId(made.monitor_id, values.key_hash));
      written.Add(rows_.Added(std::move(rows->cells[i]), made.row_ids.back().ToString()));
      made.rows.push_back(std::move(values));
    }
    output.parts.push_back(Made(request.part, written.Take()));
    output.monitor = std::move(made);
    return output;
  }

  // Why the row is not added; null where it is: its key is known then.
  static const char* WhyNot(const domain::RowValues& row, std::size_t bytes_max,
                            std::set<std::string>* known) {
    if (!row.has_key) return kNoKey;
    const std::size_t bytes = row.subject_json.size() + row.baseline_json.size() +
                              (row.context_json ? row.context_json->size() : 0);
    if (bytes > bytes_max) return kRowTooLarge;
    return known->insert(row.key_hash).second ? nullptr : kSameKey;
  }

  const domain::MonitorRows rows_;
  const std::string block_id_;
  const std::size_t width_;
};

// A piece of the file becomes the parts that follow those of the pieces before it.
class ReadCsvWork final : public PartWork {
 public:
  PartStep Make(const PartRequest& request, PartTurn& /*turn*/) const override {
    return PartRead{[&request](store::Session& session) -> PartCompute {
      const auto unit = std::make_shared<const std::optional<store::UploadUnit>>(
          request.upload_id
              ? store::ReadUploadUnit(session, *request.upload_id, request.part, request.part_rows)
              : std::nullopt);
      return [&request, unit](PartTurn& turn) { return Split(request, *unit, turn); };
    }};
  }

 private:
  static PartStep Split(const PartRequest& request, const std::optional<store::UploadUnit>& unit,
                        PartTurn& turn) {
    if (!unit) {
      return store::JobFault{std::string(domain::kReasonSourceUnavailable),
                             "the uploaded file is not there any more"};
    }
    PartOutput output;
    domain::RowsWriter rows(request.bytes_max);
    const auto end_part = [&] {
      const int part = unit->first_part + static_cast<int>(output.parts.size());
      output.parts.push_back(Made(part, rows.Take()));
    };
    domain::CsvReader reader(unit->first_line, request.row_bytes_max);
    const auto take = [&](domain::CsvRecord& record) -> std::optional<domain::CsvProblem> {
      turn.Ask();
      rows.AddFields(record.fields);
      ++output.rows_done;
      if (rows.row_count() == request.part_rows) end_part();
      return std::nullopt;
    };
    auto problem = reader.Feed(unit->text, take);
    if (!problem) problem = reader.Finish(take);
    if (problem) return Fault("line " + std::to_string(problem->line) + ": " + problem->message);
    if (rows.row_count() > 0) end_part();
    return output;
  }
};

// What no work tells by itself: rows that cannot be read are a fault, and so is what is too large
// or takes too long.
class GuardedWork final : public PartWork {
 public:
  // `block`: as the client knows it.
  GuardedWork(std::unique_ptr<const PartWork> work, std::string block)
      : work_(std::move(work)), block_(std::move(block)) {}

  PartStep Make(const PartRequest& request, PartTurn& turn) const override {
    return Guarded([&](PartTurn& own) { return work_->Make(request, own); }, turn);
  }

 private:
  PartStep Guarded(const PartCompute& compute, PartTurn& turn) const {
    try {
      PartStep step = compute(turn);
      auto* asked = std::get_if<PartRead>(&step);
      if (asked == nullptr) return step;
      return PartRead{
          [this, read = std::move(asked->read)](store::Session& session) -> PartCompute {
            return [this, next = read(session)](PartTurn& own) { return Guarded(next, own); };
          }};
    } catch (const PartStopped& stopped) {
      if (stopped.why != PartStop::kOverdue) throw;
      return Fault(
          fmt::format("{} takes too long: a part of its rows took more than {} s of "
                      "computing, which is what one may take",
                      block_, kPartTimeMax.count()));
    } catch (const domain::PartTooLarge& error) {
      return Fault(error.what());
    } catch (const std::invalid_argument&) {
      // The message may quote the rows, which are personal.
      return Fault("the rows of a part could not be read");
    } catch (const base::Json::exception&) {
      return Fault("the rows of a part could not be read");
    }
  }

  const std::unique_ptr<const PartWork> work_;
  const std::string block_;
};

std::unique_ptr<const PartWork> WorkOf(const domain::BlockType& type,
                                       const domain::BoundSpecs& bound) {
  switch (type.work) {
    case domain::BlockWork::kRowFunction:
      return std::make_unique<FunctionWork>(type.make(bound.specs, bound.input),
                                            bound.input.size());
    case domain::BlockWork::kDedupe:
      return std::make_unique<DedupeWork>(domain::DedupeKeys(bound.specs, bound.input),
                                          bound.input.size());
    case domain::BlockWork::kMonitor:
      return std::make_unique<MonitorWork>(domain::MonitorRows(bound.specs, bound.input),
                                           bound.block_id, bound.input.size());
    case domain::BlockWork::kReadsFile:
      return std::make_unique<ReadCsvWork>();
    case domain::BlockWork::kGiven:
    case domain::BlockWork::kResearch:
    case domain::BlockWork::kLookup:
    case domain::BlockWork::kAtEnd:
      return nullptr;
  }
  return nullptr;
}

}  // namespace

std::optional<BoundWork> BindPartWork(const std::string& type, const std::string& specs_json) {
  const domain::BlockType* block = domain::FindBlockType(type);
  // A lookup of a route has the name of its block, and specs of its own.
  if (block == nullptr || block->work == domain::BlockWork::kLookup) return std::nullopt;
  try {
    const domain::BoundSpecs bound = domain::ReadBoundSpecs(specs_json);
    auto work = WorkOf(*block, bound);
    if (!work) return std::nullopt;
    return std::make_shared<const GuardedWork>(std::move(work),
                                               fmt::format("block {} ({})", bound.block_id, type));
  } catch (const std::exception&) {
    return "the specs of the block cannot be read by this version";
  }
}

}  // namespace vedette::worker
