#include "worker/blocks/find_email.h"

#include <algorithm>
#include <optional>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "base/json.h"
#include "config/lookup_config.h"
#include "domain/email/address.h"
#include "domain/email/email_fact.h"
#include "domain/email/lead.h"
#include "domain/email/person_name.h"
#include "domain/email/suppression.h"
#include "worker/blocks/lookup_block.h"
#include "worker/blocks/waterfall.h"
#include "worker/providers/pattern_provider.h"

namespace vedette::worker {
namespace {

using domain::AddressCheck;
using domain::Found;
using domain::FoundAddress;
using domain::Person;
using std::chrono::milliseconds;

// The label of metrics.
constexpr std::string_view kKind = "find_email";
// A cell that is none: what is stored is not what the API stores.
constexpr std::string_view kErrorInvalidLead = "invalid_lead";
// A lead waits for its turn to guess at most this part of the time that it has left.
constexpr int kTurnWaitPart = 3;

// The person of a cell. A copy's, too.
Person PersonOf(const domain::FindRow& row) {
  auto read = domain::ReadLead(row.lead.Value());
  if (std::holds_alternative<domain::LeadFault>(read)) {
    throw std::invalid_argument("a stored lookup has a lead that cannot be read");
  }
  return std::get<Person>(std::move(read));
}

// What an address is as where its verifier gave no verdict.
domain::AddressVerdict NoVerdict(const Asked& asked) {
  using domain::VerdictReason;
  domain::AddressVerdict verdict;
  if (asked.shown.error_class == kSkippedNotConfigured) {
    verdict.reason = VerdictReason::kNoSmtpWorker;
  } else if (asked.shown.error_class == kSkippedBreakerOpen) {
    verdict.reason = VerdictReason::kBlocked;
  } else {
    verdict.reason = VerdictReason::kTemporary;
  }
  return verdict;
}

// Why nothing was found, where that is known.
std::string_view NothingReason(domain::FindMode mode, const Person& person,
                               const std::vector<std::string>& order) {
  if (mode == domain::FindMode::kPersonal) return "";
  const std::string domain = domain::CompanyDomain(person);
  if (domain.empty()) return "no_domain";
  if (std::find(order.begin(), order.end(), PatternProvider::kId) == order.end()) return "";
  const auto names = domain::RenderName(person, domain);
  const auto* fault = std::get_if<domain::NameFault>(&names);
  return fault == nullptr ? "" : domain::NameFaultCode(*fault);
}

bool AreListed(const std::vector<domain::SuppressionKey>& listed,
               const std::vector<domain::SuppressionKey>& keys) {
  return std::find_first_of(keys.begin(), keys.end(), listed.begin(), listed.end()) != keys.end();
}

// What the list is asked of a lead. Its company's domain may be known from an earlier try.
std::vector<domain::SuppressionKey> KeysOfLead(Person person, const std::optional<FindMemo>& memo) {
  if (memo && !memo->domain.empty()) person.domain = memo->domain;
  return domain::SuppressionKeys(person);
}

}  // namespace

FindEmailRunner::FindEmailRunner(Dependencies deps, domain::FindRequest request,
                                 std::vector<std::string> order, std::int64_t price_mc)
    : deps_(std::move(deps)),
      request_(std::move(request)),
      order_(std::move(order)),
      price_mc_(price_mc) {}

milliseconds FindEmailRunner::Left(const Row& row) const {
  return std::chrono::floor<milliseconds>(row.began + row.request.timeout -
                                          deps_.clock.SinceBoot());
}

// Whether the row is about the lead's own address alone.
bool FindEmailRunner::IsOwn(const Row& row) const {
  return domain::OwnAddressToVerify(request_.mode, *row.person).has_value();
}

// Whether the company of the row is known by its name alone.
bool FindEmailRunner::WantsDomain(const Row& row) const {
  return !IsOwn(row) && !row.person->company.empty() && domain::CompanyDomain(*row.person).empty();
}

void FindEmailRunner::Start(RowRequest request, std::function<void(RowResult)> done) {
  std::shared_ptr<const Person> person;
  try {
    const domain::FindRow row = LookupRowOf(request.cells);
    if (auto copy = EndOfCopy(row)) return done(std::move(*copy));
    person = std::make_shared<const Person>(PersonOf(row));
  } catch (const std::invalid_argument&) {
    return done(EndWith(request.cells,
                        {std::string(kErrorInvalidLead), "The stored lead cannot be read."}));
  }
  // A lead's own address may be known already, whether or not it is to be verified.
  const std::string known_address = domain::KnownAddress(request_.mode, *person);
  const std::string work_address = domain::WorkAddress(request_.mode, *person);
  const auto found = domain::AnswerAtOnce(request_.mode, *person, true);
  if (found && known_address.empty() && work_address.empty()) {
    deps_.metrics.ObserveLookup(kKind, domain::FoundOutcome(*found), {});
    return done(Done(*person, *found));
  }
  const RowId id = ++last_id_;
  domain::EmailQuestion question;
  question.org_id = request.org_id;
  // Somebody may have been put on the list while the row waited.
  const auto memo = ReadFindMemo(request.memo);
  question.keys = KeysOfLead(*person, memo);
  if (memo) {
    for (const FoundAddress& address : memo->seen) {
      for (auto& key : domain::SuppressionKeysOfAddress(address.candidate.address)) {
        question.keys.push_back(std::move(key));
      }
    }
  }
  const auto now = deps_.clock.SinceBoot();
  rows_.emplace(id, Row{std::move(request), std::move(done), std::move(person), now});
  question.address = known_address;
  question.work_address = work_address;
  deps_.memory.Ask(std::move(question), [this, id](std::optional<domain::EmailKnowledge> known) {
    if (!known) {
      return Fail(id, ListUnread());
    }
    Begin(id, *known);
  });
}

void FindEmailRunner::EndSuppressed(RowId id, const domain::EmailKnowledge& known) {
  Row& row = rows_.at(id);
  row.is_suppressed = true;
  deps_.metrics.AddSuppressed(domain::SuppressionKindName(known.suppressed.front().kind));
  // It looks like a lead about whom nothing was found: by those whom it would have been asked of.
  const auto unasked = [this](const std::vector<std::string>& order) {
    std::vector<Try> tries;
    for (auto& shown : deps_.providers.Unasked(order)) {
      tries.push_back({tries.size(), std::move(shown)});
    }
    return tries;
  };
  auto own = domain::OwnAddressToVerify(request_.mode, *row.person);
  if (own && VerifiesMailboxes()) {
    // It looks like an address whose server could not tell, and costs what such a one costs.
    domain::AddressVerdict verdict;
    verdict.reason = domain::VerdictReason::kTemporary;
    verdict.checked_at = deps_.clock.Now();
    domain::ApplyVerdict(verdict, &*own);
    End(id, domain::DecideFound({*own}, {}, domain::FindEnd::kOwnVerified), {});
  } else if (const auto at_once = domain::AnswerAtOnce(request_.mode, *row.person, false)) {
    End(id, *at_once, {});
  } else {
    if (row.domain_tries.empty() && WantsDomain(row))
      row.domain_tries = unasked(deps_.domain_order);
    row.tries = unasked(order_);
    Finish(id, domain::FindEnd::kWorked);
  }
}

// Whether the address is on the list.
bool FindEmailRunner::IsListed(const std::vector<domain::SuppressionKey>& listed,
                               const domain::Candidate& candidate) const {
  if (listed.empty()) return false;
  const auto keys = domain::SuppressionKeysOfAddress(candidate.address);
  const auto hit = std::find_first_of(keys.begin(), keys.end(), listed.begin(), listed.end());
  if (hit == keys.end()) return false;
  deps_.metrics.AddSuppressed(domain::SuppressionKindName(hit->kind));
  return true;
}

// Drops addresses that are on the list. Who named nothing else has found nothing.
void FindEmailRunner::DropListed(const std::vector<domain::SuppressionKey>& listed,
                                 Row* row) const {
  std::set<std::string> dropped;
  std::erase_if(row->seen, [&](const FoundAddress& address) {
    const bool is_listed = IsListed(listed, address.candidate);
    if (is_listed) dropped.insert(address.provider);
    return is_listed;
  });
  for (const FoundAddress& address : row->seen) dropped.erase(address.provider);
  for (Try& one : row->tries) {
    if (dropped.contains(one.shown.provider)) one.shown.outcome = domain::TryOutcome::kNothing;
  }
}

void FindEmailRunner::Begin(RowId id, const domain::EmailKnowledge& known) {
  Row& row = rows_.at(id);
  auto memo = ReadFindMemo(row.request.memo);
  if (!known.suppressed.empty() && AreListed(known.suppressed, KeysOfLead(*row.person, memo))) {
    return EndSuppressed(id, known);
  }
  if (auto at_once = domain::AnswerAtOnce(request_.mode, *row.person, true)) {
    domain::ApplyFacts(request_.mode, *row.person, known, &*at_once);
    return End(id, *at_once, {});
  }
  row.work_verdict = domain::WorkVerdict(request_.mode, *row.person, known);
  if (auto own = domain::OwnAddressToVerify(request_.mode, *row.person)) {
    if (!known.facts.empty()) {
      domain::ApplyVerdict(domain::VerdictOf(known.facts.front()), &*own);
      row.seen.push_back(std::move(*own));
      return Finish(id, domain::FindEnd::kAtOnce);
    }
    if (!VerifiesMailboxes()) {
      return End(id, *domain::AnswerAtOnce(request_.mode, *row.person, false), {});
    }
    row.seen.push_back(std::move(*own));
  }
  if (memo) {
    row.domain_tries = std::move(memo->domain_tries);
    row.tries = std::move(memo->tries);
    row.seen = std::move(memo->seen);
    DropListed(known.suppressed, &row);
    const auto guesser = std::find(order_.begin(), order_.end(), PatternProvider::kId);
    ReplanGuesses(static_cast<std::size_t>(guesser - order_.begin()), &row.tries, &row.seen);
    if (!memo->domain.empty()) SetDomain(&row, memo->domain);
  }
  FindDomain(id);
}

// A lead with a company, but without its domain, gets that first: one provider after another is
// asked, as for an address.
void FindEmailRunner::FindDomain(RowId id) {
  Row& row = rows_.at(id);
  if (!WantsDomain(row)) return Advance(id);
  const Step step = NextStep(deps_.domain_order.size(), row.domain_tries, {}, Left(row));
  const auto* ask = std::get_if<AskProvider>(&step);
  if (ask == nullptr) return Advance(id);
  if (ask->wait == milliseconds(0)) return AskDomain(id, ask->provider);
  row.timer = std::make_unique<base::Timer>(
      deps_.loop, [this, id, provider = ask->provider] { AskDomain(id, provider); });
  row.timer->Start(ask->wait);
}

void FindEmailRunner::AskDomain(RowId id, std::size_t provider) {
  const Row& row = rows_.at(id);
  if (!row.request.may_call()) return Fail(id, Unheld());
  deps_.providers.Ask(
      deps_.domain_order[provider], Question(row, Lookup::kCompanyDomain),
      [this, id, provider](Asked asked) { OnDomain(id, provider, std::move(asked)); });
}

void FindEmailRunner::OnDomain(RowId id, std::size_t provider, Asked asked) {
  if (auto broken_off = BrokenOff(asked)) return Fail(id, std::move(*broken_off));
  Row& row = rows_.at(id);
  row.domain_tries.push_back(
      {provider, std::move(asked.shown), asked.retryable, asked.retry_after});
  if (asked.domain.empty()) return FindDomain(id);
  SetDomain(&row, asked.domain);
  // Now that the domain is known, the list may know the person by it.
  domain::EmailQuestion question;
  question.org_id = row.request.org_id;
  question.keys = domain::SuppressionKeys(*row.person);
  deps_.memory.Ask(std::move(question), [this, id](std::optional<domain::EmailKnowledge> known) {
    if (!known) {
      return Fail(id, ListUnread());
    }
    if (!known->suppressed.empty()) return EndSuppressed(id, *known);
    Advance(id);
  });
}

void FindEmailRunner::SetDomain(Row* row, const std::string& domain) {
  auto person = std::make_shared<Person>(*row->person);
  person->domain = domain;
  row->person = std::move(person);
}

// Goes on with the row after its start and after each answer. A provider may answer from inside
// Ask, so this may call itself: at most twice for each provider and once for each group of
// addresses that is verified.
void FindEmailRunner::Advance(RowId id) {
  Row& row = rows_.at(id);
  const bool is_own = IsOwn(row);
  const Step step =
      NextStep(is_own ? 0 : order_.size(), row.tries, row.seen, Left(row), verifying());
  if (const auto* end = std::get_if<worker::End>(&step)) {
    return Finish(id, is_own ? domain::FindEnd::kOwnVerified : end->end);
  }
  if (const auto* verify = std::get_if<VerifyAddresses>(&step)) {
    return Verify(id, verify->addresses);
  }
  if (std::holds_alternative<WaitUntil>(step)) return EndLater(id);
  const AskProvider& ask = std::get<AskProvider>(step);
  if (ask.wait == milliseconds(0)) return TakeTurn(id, ask.provider);
  row.timer = std::make_unique<base::Timer>(
      deps_.loop, [this, id, provider = ask.provider] { Ask(id, provider); });
  row.timer->Start(ask.wait);
}

// Only guesses that somebody verifies teach a pattern, so only they take turns.
void FindEmailRunner::TakeTurn(RowId id, std::size_t provider) {
  const Row& row = rows_.at(id);
  const std::string domain = domain::CompanyDomain(*row.person);
  if (order_[provider] != PatternProvider::kId || !VerifiesMailboxes() || domain.empty()) {
    return Ask(id, provider);
  }
  deps_.turns.Take(row.request.org_id, domain, Left(row) / kTurnWaitPart,
                   live_.Guard([this, id, provider](std::shared_ptr<DomainTurns::Turn> turn) {
                     rows_.at(id).turn = std::move(turn);
                     Ask(id, provider);
                   }));
}

void FindEmailRunner::Ask(RowId id, std::size_t provider) {
  const Row& row = rows_.at(id);
  if (!row.request.may_call()) return Fail(id, Unheld());
  deps_.providers.Ask(
      order_[provider], Question(row, Lookup::kFindEmail),
      [this, id, provider](Asked asked) { OnAsked(id, provider, std::move(asked)); });
}

LookupRequest FindEmailRunner::Question(const Row& row, Lookup lookup) const {
  LookupRequest request;
  request.row_id = row.request.row_id;
  request.org_id = row.request.org_id;
  request.job_id = row.request.job_id;
  request.lookup = lookup;
  request.mode = request_.mode;
  request.verify_emails = request_.verify_emails;
  request.may_wait = row.request.may_wait;
  request.waited = row.request.waited;
  request.timeout = std::max(Left(row), milliseconds(1));
  request.may_call = row.request.may_call;
  if (lookup != Lookup::kVerifyEmail) request.person = row.person;
  return request;
}

void FindEmailRunner::OnAsked(RowId id, std::size_t provider, Asked asked) {
  const auto it = rows_.find(id);
  base::Assert(it != rows_.end(), "a row whose provider is asked has not ended");
  if (auto broken_off = BrokenOff(asked)) return Fail(id, std::move(*broken_off));
  if (asked.candidates.empty()) return Add(id, provider, std::move(asked));
  domain::EmailQuestion question;
  question.org_id = it->second.request.org_id;
  for (const domain::Candidate& candidate : asked.candidates) {
    for (auto& key : domain::SuppressionKeysOfAddress(candidate.address)) {
      question.keys.push_back(std::move(key));
    }
  }
  deps_.memory.Ask(std::move(question),
                   [this, id, provider, asked = std::move(asked)](auto known) mutable {
                     if (!known) return Fail(id, ListUnread());
                     const auto& listed = known->suppressed;
                     std::erase_if(asked.candidates, [&](const domain::Candidate& candidate) {
                       return IsListed(listed, candidate);
                     });
                     if (asked.candidates.empty())
                       asked.shown.outcome = domain::TryOutcome::kNothing;
                     Add(id, provider, std::move(asked));
                   });
}

void FindEmailRunner::Add(RowId id, std::size_t provider, Asked asked) {
  Row& row = rows_.at(id);
  AddCandidates(asked.shown.provider, asked.candidates, deps_.candidates_max, &row.seen);
  row.tries.push_back({provider, std::move(asked.shown), asked.retryable, asked.retry_after});
  DropGuesses(verifying(), &row.seen);
  // A pattern that is learned is nothing to wait for.
  const bool is_learned =
      !asked.candidates.empty() && asked.candidates.front().seen == domain::PatternSeen::kLearned;
  if (is_learned || asked.candidates.empty()) row.turn.reset();
  Advance(id);
}

void FindEmailRunner::Verify(RowId id, const std::vector<std::size_t>& addresses) {
  Row& row = rows_.at(id);
  if (!row.request.may_call()) return Fail(id, Unheld());
  base::Assert(row.verifying == 0, "one group of addresses is verified at a time");
  row.verifying = addresses.size();
  std::vector<LookupRequest> requests;
  for (const std::size_t at : addresses) {
    const FoundAddress& address = row.seen[at];
    LookupRequest& request = requests.emplace_back(Question(row, Lookup::kVerifyEmail));
    request.address = address.candidate.address;
    request.guess = !address.candidate.stated;
    request.attempt = address.attempts;
  }
  // The row may end inside the last Ask: nothing of it is used after that.
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    deps_.providers.Ask(
        deps_.verifier, std::move(requests[i]),
        [this, id, at = addresses[i]](const Asked& asked) { OnVerified(id, at, asked); });
  }
}

void FindEmailRunner::OnVerified(RowId id, std::size_t at, const Asked& asked) {
  const auto it = rows_.find(id);
  // Another address of the group has shown that this process stops.
  if (it == rows_.end()) return;
  if (auto broken_off = BrokenOff(asked)) return Fail(id, std::move(*broken_off));
  Row& row = it->second;
  FoundAddress& address = row.seen.at(at);
  if (asked.later) {
    domain::ApplyVerdict(asked.later->verdict, &address);
    address.check = AddressCheck::kLater;
    // What a server says counts against the patience with it, and the budget says nothing of it.
    if (asked.later->verdict.reason == domain::VerdictReason::kRate) {
      row.why = domain::JobWait::kMailBudget;
    } else {
      ++address.attempts;
    }
    const bool is_first = row.later == milliseconds(0);
    row.later = is_first ? asked.later->wait : std::min(row.later, asked.later->wait);
  } else {
    domain::ApplyVerdict(asked.verdict.value_or(NoVerdict(asked)), &address);
  }
  base::Assert(row.verifying > 0, "an address is verified once");
  if (--row.verifying > 0) return;
  DropGuesses(Verifying::kYes, &row.seen);
  Advance(id);
}

void FindEmailRunner::EndLater(RowId id) {
  Row& row = rows_.at(id);
  const bool is_resolved =
      std::any_of(row.domain_tries.begin(), row.domain_tries.end(),
                  [](const Try& one) { return one.shown.outcome == domain::TryOutcome::kFound; });
  auto memo = WriteFindMemo(
      {is_resolved ? row.person->domain : std::string(), row.domain_tries, row.tries, row.seen});
  if (!row.request.may_wait || !memo) {
    // They end as what the verifier has said so far.
    for (FoundAddress& address : row.seen) {
      if (address.check == AddressCheck::kLater) address.check = AddressCheck::kVerified;
    }
    return Advance(id);
  }
  auto node = rows_.extract(id);
  node.mapped().turn.reset();
  node.mapped().done(RowLater{std::max(node.mapped().later, milliseconds(1000)), std::move(*memo),
                              node.mapped().why});
}

void FindEmailRunner::Fail(RowId id, RowFailure failure) {
  auto node = rows_.extract(id);
  base::Assert(!node.empty(), "a row fails once");
  node.mapped().done(std::move(failure));
}

void FindEmailRunner::Finish(RowId id, domain::FindEnd end) {
  Row& row = rows_.at(id);
  // Guesses that there was no time for say no more than the first one.
  DropGuesses(Verifying::kNo, &row.seen);
  std::vector<domain::ProviderTry> tries;
  tries.reserve(row.domain_tries.size() + row.tries.size());
  for (const Try& one : row.domain_tries) tries.push_back(one.shown);
  for (const Try& one : row.tries) tries.push_back(one.shown);
  std::string_view reason = NothingReason(request_.mode, *row.person, order_);
  auto found = domain::DecideFound(row.seen, std::move(tries), end, reason);
  found.work_verdict = row.work_verdict;
  End(id, found, std::move(row.seen));
}

void FindEmailRunner::End(RowId id, const Found& found, std::vector<FoundAddress> learnt) {
  auto node = rows_.extract(id);
  base::Assert(!node.empty(), "a row ends once");
  Row& row = node.mapped();
  deps_.metrics.ObserveLookup(
      kKind, domain::FoundOutcome(found),
      std::chrono::floor<std::chrono::microseconds>(deps_.clock.SinceBoot() - row.began));
  auto lesson = domain::LessonOf(row.request.org_id, *row.person, learnt, deps_.clock.Now());
  // What a provider said of a company is not what a lead named; and of a lead that nobody looked up
  // nothing is kept.
  const bool is_named = row.domain_tries.empty() && !found.tries.empty() && !row.is_suppressed;
  if (!is_named) lesson.company_key.clear();
  // `done` of the last row may destroy this runner.
  EmailMemory& memory = deps_.memory;
  RowDone done = Done(*row.person, found);
  if (!lesson.facts.empty()) {
    // What the organisation knows is free for it, so it is known once it has been charged.
    domain::EmailLesson facts;
    facts.org_id = lesson.org_id;
    facts.facts = std::exchange(lesson.facts, {});
    done.recorded = [&memory, facts = std::move(facts)] { memory.Learn(facts, [] {}); };
  }
  row.done(std::move(done));
  if (lesson.empty()) return;
  // The next lead of the domain guesses when it can read what this one has learnt.
  memory.Learn(std::move(lesson), [turn = std::move(row.turn)] {});
}

RowDone FindEmailRunner::Done(const Person& person, const Found& found) const {
  const bool is_own = found.end == domain::FindEnd::kOwnVerified;
  const std::int64_t price_mc = is_own ? std::min(request_.verify_mc, price_mc_) : price_mc_;
  const bool charged =
      price_mc > 0 && domain::IsCharged(request_.mode, person, found, request_.charge);
  RowDone done;
  done.cells = {CellOf(person, found, charged)};
  if (charged) done.charge_mc = price_mc;
  if (found.error == domain::kErrorTimedOut) {
    done.error = RowError{found.error, "The time of the lead was over before a provider had it."};
  } else if (!found.error.empty()) {
    done.error = RowError{found.error, "No provider could be asked."};
  }
  return done;
}

std::string FindEmailRunner::CellOf(const Person& person, const Found& found, bool charged) const {
  return base::DumpJson(request_.short_cells
                            ? domain::ShortFoundCell(request_.mode, person, found)
                            : domain::FoundCell(request_.mode, person, found, charged));
}

RowDone FindEmailRunner::EndWith(const Cells& cells, RowError error) const {
  Person person;
  try {
    const domain::FindRow row = LookupRowOf(cells);
    if (auto copy = EndOfCopy(row)) return std::move(*copy);
    person = PersonOf(row);
  } catch (const std::invalid_argument&) {
    // The error is shown all the same; nothing of the lead is needed for it.
  }
  const Found found = domain::FailedFound(error.code);
  RowDone done;
  done.cells = {CellOf(person, found, false)};
  done.error = std::move(error);
  return done;
}

FindEmailBlock::FindEmailBlock(base::EventLoop& loop, const base::Clock& clock,
                               metrics::Metrics& metrics, ProviderSet& providers,
                               EmailMemory& memory, const config::LookupsConfig& config,
                               Verifiers verifiers)
    : loop_(loop),
      clock_(clock),
      metrics_(metrics),
      providers_(providers),
      memory_(memory),
      config_(config),
      verifiers_(std::move(verifiers)),
      turns_(loop) {}

std::variant<std::shared_ptr<RowRunner>, std::string> FindEmailBlock::Bind(
    const std::string& specs_json, std::int64_t price_mc) {
  domain::FindRequest request;
  try {
    request = domain::ReadFindRequest(specs_json);
  } catch (const std::invalid_argument&) {
    return "The stored request of the lookup cannot be read.";
  }
  const std::vector<std::string>& configured = request.mode == domain::FindMode::kProfessional
                                                   ? config_.find_email
                                                   : config_.find_email_personal;
  auto order = Distinct(request.providers.empty() ? configured : request.providers);
  const FindEmailRunner::Dependencies deps{
      loop_,
      clock_,
      metrics_,
      providers_,
      memory_,
      turns_,
      request.verify_emails ? verifiers_.whole : verifiers_.by_dns,
      Distinct(config_.company_domain),
      static_cast<std::size_t>(config_.candidates_max)};
  return std::make_shared<FindEmailRunner>(deps, std::move(request), std::move(order), price_mc);
}

}  // namespace vedette::worker
