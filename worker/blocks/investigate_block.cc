#include "worker/blocks/investigate_block.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <stdexcept>
#include <utility>

#include "base/json.h"
#include "domain/email/suppression.h"
#include "domain/investigation/finding.h"
#include "worker/blocks/lookup_block.h"

namespace vedette::worker {
namespace {

using domain::Finding;
using domain::FindingKind;
using domain::Subject;
using domain::SubjectKind;
using domain::SuppressionKey;
using std::chrono::milliseconds;

// How the series of providers name what an expander is asked.
constexpr std::string_view kMetricsLookup = "investigation";

std::vector<SuppressionKey> KeysOf(const Subject& subject) {
  if (subject.type == SubjectKind::kEmail) return domain::SuppressionKeysOfAddress(subject.value);
  if (subject.type == SubjectKind::kUrl) return domain::ProfileSuppressions(subject.value);
  std::vector<SuppressionKey> keys;
  if (subject.type == SubjectKind::kDomain) {
    if (auto key = domain::DomainSuppression(subject.value)) keys.push_back(std::move(*key));
  }
  return keys;
}

bool Contains(const std::vector<SuppressionKey>& list, const std::vector<SuppressionKey>& keys) {
  return std::any_of(keys.begin(), keys.end(), [&](const SuppressionKey& key) {
    return std::find(list.begin(), list.end(), key) != list.end();
  });
}

// The thing that a finding is about or leads to.
std::vector<SuppressionKey> KeysOf(const Finding& finding) {
  if (finding.kind != FindingKind::kRelation || !finding.object) return KeysOf(finding.subject);
  const auto type = domain::ParseSubjectKind(finding.object->type);
  return type ? KeysOf(Subject{*type, finding.object->value}) : std::vector<SuppressionKey>();
}

// One subject on its way. It lives as long as something of it is under way.
class Row : public std::enable_shared_from_this<Row> {
 public:
  Row(const base::Clock& clock, metrics::Metrics& metrics, EmailMemory& memory,
      const std::vector<std::unique_ptr<Expander>>& expanders, std::int64_t price_mc,
      RowRequest request, Subject subject, std::function<void(RowResult)> done)
      : clock_(clock),
        metrics_(metrics),
        memory_(memory),
        expanders_(expanders),
        price_mc_(price_mc),
        request_(std::move(request)),
        subject_(std::move(subject)),
        done_(std::move(done)),
        until_(clock.SinceBoot() + request_.timeout) {}

  void Begin() { Next(0); }

 private:
  template <typename Then>
  void AskList(std::vector<SuppressionKey> keys, Then then) {
    domain::EmailQuestion question;
    question.org_id = request_.org_id;
    question.keys = std::move(keys);
    memory_.Ask(std::move(question),
                [self = shared_from_this(), then](std::optional<domain::EmailKnowledge> known) {
                  if (!known) return self->End(ListUnread());
                  then(known->suppressed);
                });
  }

  void Next(std::size_t expander) {
    while (expander < expanders_.size() && !expanders_[expander]->Takes(subject_.type)) ++expander;
    if (expander == expanders_.size()) return DropListed();
    // Before each of them: the list may have grown since the one before was asked.
    AskList(KeysOf(subject_), [this, expander](const std::vector<SuppressionKey>& listed) {
      if (listed.empty()) return Ask(expander);
      findings_.clear();
      Finish();
    });
  }

  void Ask(std::size_t expander) {
    const auto left = std::chrono::floor<milliseconds>(until_ - clock_.SinceBoot());
    if (left <= milliseconds(0)) return DropListed();
    if (!request_.may_call()) return End(Unheld());
    ExpandRequest asked;
    asked.investigation_id = request_.job_id;
    asked.org_id = request_.org_id;
    asked.subject = subject_;
    asked.timeout = left;
    asked.may_call = request_.may_call;
    const auto began = clock_.SinceBoot();
    expanders_[expander]->Start(
        std::move(asked), [self = shared_from_this(), expander, began](ExpandAnswer answer) {
          self->Count(*self->expanders_[expander], answer, began);
          if (const auto* failure = std::get_if<domain::Failure>(&answer)) {
            return self->End(
                RowFailure{failure->error_class, failure->message, true, failure->retry_after});
          }
          auto& found = std::get<std::vector<Finding>>(answer);
          std::move(found.begin(), found.end(), std::back_inserter(self->findings_));
          self->Next(expander + 1);
        });
  }

  void Count(const Expander& asked, const ExpandAnswer& answer, std::chrono::nanoseconds began) {
    const auto* found = std::get_if<std::vector<Finding>>(&answer);
    metrics_.AddProviderCall(asked.id(), kMetricsLookup,
                             found == nullptr ? "failed"
                             : found->empty() ? "nothing"
                                              : "found");
    metrics_.ObserveProviderCall(
        asked.id(), std::chrono::floor<std::chrono::microseconds>(clock_.SinceBoot() - began));
  }

  // Nothing is recorded of those on the suppression list.
  void DropListed() {
    std::vector<SuppressionKey> keys;
    for (const Finding& finding : findings_) {
      for (SuppressionKey& key : KeysOf(finding)) {
        if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(std::move(key));
      }
    }
    if (keys.empty()) return Finish();
    AskList(std::move(keys), [this](const std::vector<SuppressionKey>& listed) {
      std::erase_if(findings_, [&](const Finding& f) { return Contains(listed, KeysOf(f)); });
      Finish();
    });
  }

  bool IsLookedAt(SubjectKind type) const {
    return std::any_of(expanders_.begin(), expanders_.end(),
                       [&](const auto& expander) { return expander->Takes(type); });
  }

  // Says of what was found whether anybody here looks at it: what nobody looks at is not paid for,
  // and neither is a seed.
  void Finish() {
    for (Finding& finding : findings_) {
      if (finding.kind == FindingKind::kEntity) {
        finding.is_expandable = IsLookedAt(finding.subject.type);
      }
    }
    RowDone done{{domain::WriteFindings(findings_)}, std::nullopt, std::nullopt};
    if (IsLookedAt(subject_.type)) done.charge_mc = price_mc_;
    End(std::move(done));
  }
  void End(RowResult result) { std::exchange(done_, nullptr)(std::move(result)); }

  const base::Clock& clock_;
  metrics::Metrics& metrics_;
  EmailMemory& memory_;
  const std::vector<std::unique_ptr<Expander>>& expanders_;
  const std::int64_t price_mc_;
  const RowRequest request_;
  const Subject subject_;
  std::function<void(RowResult)> done_;
  const std::chrono::nanoseconds until_;
  std::vector<Finding> findings_;
};

class InvestigateRunner final : public RowRunner {
 public:
  InvestigateRunner(const base::Clock& clock, metrics::Metrics& metrics, EmailMemory& memory,
                    const std::vector<std::unique_ptr<Expander>>& expanders, std::int64_t price_mc)
      : clock_(clock),
        metrics_(metrics),
        memory_(memory),
        expanders_(expanders),
        price_mc_(price_mc) {}

  void Start(RowRequest request, std::function<void(RowResult)> done) override {
    Subject subject;
    try {
      const base::Json json = base::ParseJsonOrThrow(request.cells.at(0));
      // Nothing is found of a person that was erased, and nothing is charged.
      if (domain::IsErasedSubject(json)) {
        return done(RowDone{{domain::WriteFindings({})}, std::nullopt, std::nullopt});
      }
      subject = domain::SubjectOf(json);
    } catch (const std::exception&) {
      return done(
          EndWith(request.cells, {"invalid_subject", "The stored subject cannot be read."}));
    }
    std::make_shared<Row>(clock_, metrics_, memory_, expanders_, price_mc_, std::move(request),
                          std::move(subject), std::move(done))
        ->Begin();
  }

  RowDone EndWith(const Cells&, RowError error) const override {
    return {{domain::WriteFindings({})}, std::nullopt, std::move(error)};
  }

 private:
  const base::Clock& clock_;
  metrics::Metrics& metrics_;
  EmailMemory& memory_;
  const std::vector<std::unique_ptr<Expander>>& expanders_;
  const std::int64_t price_mc_;
};

}  // namespace

InvestigateBlock::InvestigateBlock(const base::Clock& clock, metrics::Metrics& metrics,
                                   EmailMemory& memory,
                                   std::vector<std::unique_ptr<Expander>> expanders)
    : clock_(clock), metrics_(metrics), memory_(memory), expanders_(std::move(expanders)) {}

std::variant<std::shared_ptr<RowRunner>, std::string> InvestigateBlock::Bind(
    const std::string&, std::int64_t price_mc) {
  return std::make_shared<InvestigateRunner>(clock_, metrics_, memory_, expanders_, price_mc);
}

}  // namespace vedette::worker
