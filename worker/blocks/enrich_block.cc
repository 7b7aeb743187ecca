#include "worker/blocks/enrich_block.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "domain/workflow/block_type.h"
#include "domain/workflow/blocks/blocks.h"

namespace vedette::worker {
namespace {

constexpr std::string_view kEmptyRow = "empty_row";
constexpr std::string_view kNothing = "{}";

class Runner final : public RowRunner {
 public:
  Runner(domain::SubjectType subject_type, const base::Clock& clock, const ResearchProbe& probe,
         domain::EnrichPlan plan, std::int64_t price_mc)
      : clock_(clock), probe_(probe), plan_(std::move(plan)), price_mc_(price_mc) {
    // A row belongs to no monitor; each is known by its own id.
    auto spec = std::make_shared<ProbeSpec>();
    spec->subject_type = subject_type;
    spec->tier = plan_.tier;
    spec->watched = plan_.fields;
    spec->research_plan = plan_.research_plan;
    spec_ = std::move(spec);
  }

  void Start(RowRequest request, std::function<void(RowResult)> done) override {
    ProbeRequest asked;
    try {
      std::string subject = domain::SubjectText(plan_, request.cells);
      if (subject == kNothing) {
        done(EndWith(request.cells, {std::string(kEmptyRow), "the row has no value"}));
        return;
      }
      asked.subject = base::JsonText(std::move(subject));
      if (probe_.probe->ReadsSubject()) asked.subject.Value();  // here, where a fault is the row's
    } catch (const std::exception&) {
      done(RowFailure{"row_unreadable", "the row could not be read", false, std::nullopt});
      return;
    }
    asked.org_id = request.org_id;
    asked.check_id = request.row_id;
    asked.row_id = request.row_id;
    asked.spec = SpecOf(request.job_id);
    asked.until = clock_.Now();
    asked.timeout = std::min(probe_.timeout, request.timeout);
    asked.deadline_left = request.timeout;
    const auto unheld = std::make_shared<bool>(false);
    asked.on_turn = [may_call = request.may_call, unheld](std::chrono::milliseconds /*waited*/) {
      *unheld = !may_call();
      return !*unheld;
    };
    probe_.probe->Start(std::move(asked), [this, cells = std::move(request.cells), unheld,
                                           done = std::move(done)](ProbeResult result) {
      done(*unheld ? RowResult(RowFailure{std::string(kRowUnheld), "nobody waits for the row", true,
                                          std::nullopt})
                   : ResultOf(cells, std::move(result)));
    });
  }

  RowDone EndWith(const Cells& cells, RowError error) const override {
    RowDone done;
    done.cells = domain::FailedRow(plan_, cells, error.code + ": " + error.message);
    done.error = std::move(error);
    return done;
  }

  std::optional<std::chrono::milliseconds> RowTimeout() const override { return probe_.deadline; }

 private:
  RowResult ResultOf(const Cells& cells, ProbeResult result) const {
    if (auto* failure = std::get_if<ProbeFailure>(&result)) {
      return RowFailure{failure->error_class, failure->message, failure->retryable,
                        failure->retry_after};
    }
    const auto& seen = std::get<Observation>(result);
    RowDone done;
    done.cells = domain::EnrichedRow(plan_, cells, seen);
    done.charge_mc = price_mc_;
    if (probe_.unrendered_mc && !seen.rendered) {
      done.charge_mc = std::min(price_mc_, *probe_.unrendered_mc);
    }
    return done;
  }

  // A service is told the run's id in place of the monitor's.
  std::shared_ptr<const ProbeSpec> SpecOf(const base::Uuid& job_id) {
    if (spec_->monitor_id == job_id) return spec_;
    auto spec = std::make_shared<ProbeSpec>(*spec_);
    spec->monitor_id = job_id;
    spec_ = std::move(spec);
    return spec_;
  }

  const base::Clock& clock_;
  const ResearchProbe& probe_;
  const domain::EnrichPlan plan_;
  const std::int64_t price_mc_;
  std::shared_ptr<const ProbeSpec> spec_;
};

}  // namespace

EnrichBlock::EnrichBlock(domain::SubjectType subject_type, const base::Clock& clock,
                         TierProbes probes)
    : subject_type_(subject_type), clock_(clock), probes_(std::move(probes)) {}

std::string_view EnrichBlock::type() const {
  return subject_type_ == domain::SubjectType::kLead ? "enrich_lead" : "enrich_company";
}

std::variant<std::shared_ptr<RowRunner>, std::string> EnrichBlock::Bind(
    const std::string& specs_json, std::int64_t price_mc) {
  try {
    const domain::BoundSpecs bound = domain::ReadBoundSpecs(specs_json);
    domain::EnrichPlan plan = domain::PlanEnrich(bound.specs, bound.input);
    const ResearchProbe& probe = probes_.at(plan.tier);
    return std::make_shared<Runner>(subject_type_, clock_, probe, std::move(plan), price_mc);
  } catch (const std::exception&) {
    return "the specs of the block cannot be read by this version";
  }
}

}  // namespace vedette::worker
