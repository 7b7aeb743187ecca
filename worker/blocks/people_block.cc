#include "worker/blocks/people_block.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <stdexcept>
#include <unordered_map>
#include <utility>

#include "base/assert.h"
#include "base/json.h"
#include "config/lookup_config.h"
#include "domain/email/address.h"
#include "domain/email/suppression.h"
#include "domain/people/people_answer.h"
#include "domain/people/people_request.h"
#include "worker/blocks/lookup_block.h"
#include "worker/blocks/waterfall.h"

namespace vedette::worker {
namespace {

using domain::PeopleQuestion;
using std::chrono::milliseconds;

std::string SentenceOf(const std::string& error) {
  if (error == domain::kErrorTimedOut) return "The time of the row was over before an answer.";
  if (error == domain::kErrorInvalidEmail) return "The lead has no address of email.";
  return "No source could be asked.";
}

class PeopleRunner final : public RowRunner {
 public:
  struct Dependencies {
    PeopleQuestion question;
    std::string_view kind;  // the label of metrics
    base::EventLoop& loop;
    const base::Clock& clock;
    metrics::Metrics& metrics;
    ProviderSet& providers;
    EmailMemory& memory;
  };

  PeopleRunner(const Dependencies& deps, domain::PeopleRequest request,
               std::vector<std::string> order, std::int64_t price_mc)
      : deps_(deps), request_(std::move(request)), order_(std::move(order)), price_mc_(price_mc) {}

  void Start(RowRequest request, std::function<void(RowResult)> done) override;
  RowDone EndWith(const Cells& cells, RowError error) const override;

 private:
  using RowId = std::uint64_t;

  struct Row {
    RowRequest request;
    std::function<void(RowResult)> done;
    domain::AgeSubject subject;
    std::shared_ptr<const domain::Person> person;
    std::chrono::nanoseconds began{};  // by Clock::SinceBoot
    std::vector<Try> tries{};
    std::vector<domain::PersonAnswer> persons{};
    domain::AgeClaims claims{};
    std::unique_ptr<base::Timer> timer{};  // of the wait before a provider is asked again
  };

  milliseconds Left(const Row& row) const {
    return std::chrono::floor<milliseconds>(row.began + row.request.timeout -
                                            deps_.clock.SinceBoot());
  }
  bool IsSure(const Row& row) const;
  void AskTheList(RowId id);
  void Advance(RowId id);
  void Ask(RowId id, std::size_t provider);
  void OnAsked(RowId id, std::size_t provider, Asked asked);
  // Drops the people found who are on the suppression list, and finishes.
  void Conclude(RowId id, domain::FindEnd end);
  void Finish(RowId id, domain::FindEnd end);
  // Ends the attempt, and with it what it has learnt.
  void BreakOff(RowId id, RowFailure failure);
  RowDone DoneReverse(const std::string& address, const domain::ReverseAnswer& answer) const;
  RowDone DoneAge(domain::AgeClaims claims, domain::PeopleEnd end) const;
  RowDone Done(base::Json cell, const std::string& error, bool charged) const;

  const Dependencies deps_;
  const domain::PeopleRequest request_;
  const std::vector<std::string> order_;
  const std::int64_t price_mc_;
  std::unordered_map<RowId, Row> rows_;
  RowId last_id_ = 0;
};

void PeopleRunner::Start(RowRequest request, std::function<void(RowResult)> done) {
  Row row;
  try {
    const domain::FindRow stored = LookupRowOf(request.cells);
    if (auto copy = EndOfCopy(stored)) return done(std::move(*copy));
    auto read = domain::ReadSubject(stored.lead.Value());
    if (std::holds_alternative<domain::LeadFault>(read)) {
      throw std::invalid_argument("a stored lookup has a lead that cannot be read");
    }
    row.subject = std::get<domain::AgeSubject>(std::move(read));
  } catch (const std::invalid_argument&) {
    return done(EndWith(request.cells, {"invalid_lead", "The stored lead cannot be read."}));
  }
  if (deps_.question == PeopleQuestion::kReverseEmail) {
    const std::string& address = row.subject.person.email;
    if (const auto answer = domain::ReverseAtOnce(address)) {
      return done(DoneReverse(address, *answer));
    }
  }
  row.person = std::make_shared<const domain::Person>(row.subject.person);
  row.request = std::move(request);
  row.done = std::move(done);
  row.began = deps_.clock.SinceBoot();
  const RowId id = ++last_id_;
  rows_.emplace(id, std::move(row));
  AskTheList(id);
}

// The suppression list is asked before anybody else: somebody on it causes no question, and looks
// like nothing found.
void PeopleRunner::AskTheList(RowId id) {
  const Row& row = rows_.at(id);
  domain::EmailQuestion question;
  question.org_id = row.request.org_id;
  question.keys = domain::SuppressionKeys(*row.person);
  for (const std::string& url : row.subject.urls) {
    auto keys = domain::ProfileSuppressions(url);
    std::move(keys.begin(), keys.end(), std::back_inserter(question.keys));
    if (auto key = domain::DomainSuppression(url)) question.keys.push_back(std::move(*key));
  }
  deps_.memory.Ask(std::move(question), [this, id](std::optional<domain::EmailKnowledge> known) {
    if (!known) return BreakOff(id, ListUnread());
    if (known->suppressed.empty()) return Advance(id);
    deps_.metrics.AddSuppressed(domain::SuppressionKindName(known->suppressed.front().kind));
    Row& suppressed = rows_.at(id);
    for (auto& shown : deps_.providers.Unasked(order_)) {
      suppressed.tries.push_back({suppressed.tries.size(), std::move(shown)});
    }
    Finish(id, domain::FindEnd::kWorked);
  });
}

bool PeopleRunner::IsSure(const Row& row) const {
  return std::any_of(row.persons.begin(), row.persons.end(), [](const auto& answer) {
    return !answer.second.name.empty() && answer.second.confidence >= domain::kNameConfidenceSure;
  });
}

// Goes on with the row after its start and after each answer. A provider may answer from inside
// Ask, so this may call itself: at most twice for each provider.
void PeopleRunner::Advance(RowId id) {
  Row& row = rows_.at(id);
  if (IsSure(row)) return Conclude(id, domain::FindEnd::kWorked);
  const Step step = NextStep(order_.size(), row.tries, {}, Left(row));
  if (const auto* end = std::get_if<End>(&step)) return Conclude(id, end->end);
  const AskProvider& ask = std::get<AskProvider>(step);
  if (ask.wait == milliseconds(0)) return Ask(id, ask.provider);
  row.timer = std::make_unique<base::Timer>(
      deps_.loop, [this, id, provider = ask.provider] { Ask(id, provider); });
  row.timer->Start(ask.wait);
}

void PeopleRunner::Ask(RowId id, std::size_t provider) {
  const Row& row = rows_.at(id);
  if (!row.request.may_call()) return BreakOff(id, Unheld());
  LookupRequest request;
  request.row_id = row.request.row_id;
  request.org_id = row.request.org_id;
  request.job_id = row.request.job_id;
  request.waited = row.request.waited;
  request.person = row.person;
  request.timeout = std::max(Left(row), milliseconds(1));
  request.may_call = row.request.may_call;
  if (deps_.question == PeopleQuestion::kReverseEmail) {
    request.lookup = Lookup::kReverseEmail;
    request.address = row.person->email;
  } else {
    request.lookup = Lookup::kVerifyAge;
    request.urls = row.subject.urls;
  }
  deps_.providers.Ask(order_[provider], std::move(request), [this, id, provider](Asked asked) {
    OnAsked(id, provider, std::move(asked));
  });
}

void PeopleRunner::OnAsked(RowId id, std::size_t provider, Asked asked) {
  const auto it = rows_.find(id);
  base::Assert(it != rows_.end(), "a row whose provider is asked has not ended");
  if (auto broken_off = BrokenOff(asked)) return BreakOff(id, std::move(*broken_off));
  Row& row = it->second;
  if (asked.person) row.persons.emplace_back(asked.shown.provider, std::move(*asked.person));
  std::move(asked.claims.begin(), asked.claims.end(), std::back_inserter(row.claims));
  row.tries.push_back({provider, std::move(asked.shown), asked.retryable, asked.retry_after});
  Advance(id);
}

void PeopleRunner::Conclude(RowId id, domain::FindEnd end) {
  Row& row = rows_.at(id);
  const auto address = domain::ParseAddress(row.person->email);
  const std::string domain = address ? domain::CompanyDomainOf(*address) : std::string();
  domain::EmailQuestion question;
  question.org_id = row.request.org_id;
  question.keys = domain::KeysOfFound(row.persons, domain);
  if (question.keys.empty()) return Finish(id, end);
  deps_.memory.Ask(
      std::move(question), [this, id, end, domain](std::optional<domain::EmailKnowledge> known) {
        if (!known) return BreakOff(id, ListUnread());
        if (known->suppressed.empty()) return Finish(id, end);
        deps_.metrics.AddSuppressed(domain::SuppressionKindName(known->suppressed.front().kind));
        Row& found = rows_.at(id);
        std::vector<domain::ProviderTry> shown;
        for (Try& one : found.tries) shown.push_back(std::move(one.shown));
        domain::DropSuppressed(known->suppressed, domain, &found.persons, &shown);
        for (std::size_t i = 0; i < shown.size(); ++i) found.tries[i].shown = std::move(shown[i]);
        Finish(id, end);
      });
}

void PeopleRunner::BreakOff(RowId id, RowFailure failure) {
  const auto node = rows_.extract(id);
  base::Assert(!node.empty(), "a row ends once");
  node.mapped().done(std::move(failure));
}

void PeopleRunner::Finish(RowId id, domain::FindEnd end) {
  auto node = rows_.extract(id);
  base::Assert(!node.empty(), "a row ends once");
  Row& row = node.mapped();
  domain::PeopleEnd ended;
  ended.end = end;
  for (Try& one : row.tries) ended.tries.push_back(std::move(one.shown));
  RowDone done;
  if (deps_.question == PeopleQuestion::kReverseEmail) {
    const std::string& address = row.person->email;
    done = DoneReverse(address,
                       domain::DecideReverse(address, std::move(row.persons), std::move(ended)));
  } else {
    done = DoneAge(std::move(row.claims), std::move(ended));
  }
  const std::string_view outcome =
      done.error ? std::string_view(done.error->code) : (done.charge_mc ? "ok" : "not_found");
  deps_.metrics.ObserveLookup(
      deps_.kind, outcome,
      std::chrono::floor<std::chrono::microseconds>(deps_.clock.SinceBoot() - row.began));
  row.done(std::move(done));
}

RowDone PeopleRunner::DoneReverse(const std::string& address,
                                  const domain::ReverseAnswer& answer) const {
  const bool charged = domain::IsReverseCharged(answer, request_.charge);
  return Done(domain::ReverseCell(address, answer, charged), answer.end.error, charged);
}

RowDone PeopleRunner::DoneAge(domain::AgeClaims claims, domain::PeopleEnd end) const {
  const bool is_empty = claims.empty();
  if (is_empty && end.end == domain::FindEnd::kOutOfTime) end.error = domain::kErrorTimedOut;
  if (is_empty && end.end == domain::FindEnd::kNoneAnswered) {
    end.error = domain::kErrorSourcesFailed;
  }
  const std::chrono::year_month_day today(std::chrono::floor<std::chrono::days>(deps_.clock.Now()));
  const auto result = domain::ResolveAge(std::move(claims), today, request_.minimum_age);
  const bool charged = domain::IsAgeCharged(result, end, request_.charge);
  return Done(domain::AgeCell(result, end, charged), end.error, charged);
}

RowDone PeopleRunner::Done(base::Json cell, const std::string& error, bool charged) const {
  RowDone done;
  done.cells = {base::DumpJson(cell)};
  if (charged) done.charge_mc = price_mc_;
  if (!error.empty()) done.error = RowError{error, SentenceOf(error)};
  return done;
}

RowDone PeopleRunner::EndWith(const Cells& cells, RowError error) const {
  base::Json lead;
  try {
    const domain::FindRow stored = LookupRowOf(cells);
    if (auto copy = EndOfCopy(stored)) return std::move(*copy);
    lead = stored.lead.Value();
  } catch (const std::invalid_argument&) {
    // The error is shown all the same; nothing of the lead is needed for it.
  }
  RowDone done;
  done.cells = {base::DumpJson(domain::FailedPeopleCell(deps_.question, lead, error.code))};
  done.error = std::move(error);
  return done;
}

}  // namespace

PeopleBlock::PeopleBlock(PeopleQuestion question, base::EventLoop& loop, const base::Clock& clock,
                         metrics::Metrics& metrics, ProviderSet& providers, EmailMemory& memory,
                         const config::LookupsConfig& config)
    : question_(question),
      loop_(loop),
      clock_(clock),
      metrics_(metrics),
      providers_(providers),
      memory_(memory),
      config_(config) {}

std::string_view PeopleBlock::type() const {
  return question_ == PeopleQuestion::kReverseEmail ? "reverse_email" : "verify_age";
}

std::variant<std::shared_ptr<RowRunner>, std::string> PeopleBlock::Bind(
    const std::string& specs_json, std::int64_t price_mc) {
  domain::PeopleRequest request;
  try {
    request = domain::ReadPeopleRequest(specs_json);
  } catch (const std::invalid_argument&) {
    return "The stored request of the lookup cannot be read.";
  }
  const std::vector<std::string>& configured =
      question_ == PeopleQuestion::kReverseEmail ? config_.reverse_email : config_.verify_age;
  auto order = Distinct(request.providers.empty() ? configured : request.providers);
  const PeopleRunner::Dependencies deps{question_, type(),     loop_,  clock_,
                                        metrics_,  providers_, memory_};
  return std::make_shared<PeopleRunner>(deps, std::move(request), std::move(order), price_mc);
}

}  // namespace vedette::worker
