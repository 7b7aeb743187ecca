#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "base/event_loop.h"
#include "config/config_fwd.h"
#include "domain/email/find_request.h"
#include "domain/email/found.h"
#include "lease/live.h"
#include "metrics/metrics.h"
#include "worker/blocks/row_runner.h"
#include "worker/blocks/waterfall.h"
#include "worker/providers/email_memory.h"
#include "worker/providers/provider_set.h"

namespace vedette::worker {

// Finds the address of each lead of one job.
//
//   row --copy of another row-----> done: {"duplicate_of": n}, free
//    |
//    +--answered at once----------> done, free
//    |
//    +--on the suppression list-----> done: nothing found, nobody is asked
//    |
//    +--a company without a domain: asks for its domain, one provider after another, and goes on
//    |
//    +--> waterfall --> ask a provider --> drop what is on that list --> waterfall
//            |  |
//            |  +--> verify addresses ---------------------------------> waterfall
//            |
//            +--> an address is OK, none left, no time: done
//            +--> only "later" is left: RowLater, with what is known in its memo
//
// A row ends as RowDone within its timeout, whatever its providers do, or as RowLater where it may
// wait. It answers RowFailure only where this process stops ("shutdown") or the suppression list
// cannot be read ("database"), so that the row is tried again, or where may_call of the request
// says no (kRowUnheld). A row with an error is not charged; any other is charged where the
// request's rule of charge says so: the block's price, or `verify_mc` where the lead's own address
// was verified.
//
// Leads of one domain guess one after another (DomainTurns) until a pattern of the domain is
// learned. Loop thread only.
class FindEmailRunner final : public RowRunner {
 public:
  // All of them outlive the runner and its rows.
  struct Dependencies {
    base::EventLoop& loop;
    const base::Clock& clock;
    metrics::Metrics& metrics;
    ProviderSet& providers;
    EmailMemory& memory;
    DomainTurns& turns;
    std::string verifier;  // the id of the provider that verifies; empty: none does
    std::vector<std::string> domain_order;  // who is asked for a company's domain
    std::size_t candidates_max;
  };

  FindEmailRunner(Dependencies deps, domain::FindRequest request, std::vector<std::string> order,
                  std::int64_t price_mc);

  void Start(RowRequest request, std::function<void(RowResult)> done) override;
  RowDone EndWith(const Cells& cells, RowError error) const override;

 private:
  using RowId = std::uint64_t;

  struct Row {
    RowRequest request;
    std::function<void(RowResult)> done;
    std::shared_ptr<const domain::Person> person;
    std::chrono::nanoseconds began{};  // by Clock::SinceBoot
    std::vector<Try> domain_tries{};   // at the company's domain
    std::vector<Try> tries{};
    std::vector<domain::FoundAddress> seen{};   // addresses, each once
    std::unique_ptr<base::Timer> timer{};       // of the wait before a provider is asked again
    std::shared_ptr<DomainTurns::Turn> turn{};  // while it guesses
    std::size_t verifying = 0;                  // addresses that the verifier is asked about
    std::chrono::milliseconds later{};          // the shortest wait that the verifier has named
    domain::JobWait why = domain::JobWait::kUntold;        // it waits, as far as clients are told
    bool is_suppressed = false;                            // nothing of it is kept
    std::optional<domain::AddressVerdict> work_verdict{};  // as domain::Found has it
  };

  Verifying verifying() const { return deps_.verifier.empty() ? Verifying::kNo : Verifying::kYes; }
  std::chrono::milliseconds Left(const Row& row) const;
  // Whether somebody verifies that mailboxes exist.
  bool VerifiesMailboxes() const {
    return request_.verify_emails && verifying() == Verifying::kYes;
  }
  LookupRequest Question(const Row& row, Lookup lookup) const;
  void Begin(RowId id, const domain::EmailKnowledge& known);
  // The lead is on the list.
  void EndSuppressed(RowId id, const domain::EmailKnowledge& known);
  bool IsListed(const std::vector<domain::SuppressionKey>& listed,
                const domain::Candidate& candidate) const;
  void DropListed(const std::vector<domain::SuppressionKey>& listed, Row* row) const;
  void FindDomain(RowId id);
  void AskDomain(RowId id, std::size_t provider);
  void OnDomain(RowId id, std::size_t provider, Asked asked);
  void SetDomain(Row* row, const std::string& domain);
  void Advance(RowId id);
  void TakeTurn(RowId id, std::size_t provider);
  void Ask(RowId id, std::size_t provider);
  void OnAsked(RowId id, std::size_t provider, Asked asked);
  void Add(RowId id, std::size_t provider, Asked asked);
  void Verify(RowId id, const std::vector<std::size_t>& addresses);
  void OnVerified(RowId id, std::size_t address, const Asked& asked);
  void EndLater(RowId id);
  // Ends the attempt, and with it what it has learnt.
  void Fail(RowId id, RowFailure failure);
  void Finish(RowId id, domain::FindEnd end);
  // Ends the row, and keeps what it has learnt.
  void End(RowId id, const domain::Found& found, std::vector<domain::FoundAddress> learnt);
  RowDone Done(const domain::Person& person, const domain::Found& found) const;
  std::string CellOf(const domain::Person& person, const domain::Found& found, bool charged) const;
  bool IsOwn(const Row& row) const;
  bool WantsDomain(const Row& row) const;

  const Dependencies deps_;
  const domain::FindRequest request_;
  const std::vector<std::string> order_;
  const std::int64_t price_mc_;
  std::unordered_map<RowId, Row> rows_;
  RowId last_id_ = 0;
  // The last member, so that a turn that ends with the rows finds no runner.
  lease::Live live_;
};

// The block "find_email": one lead in, one cell out (domain/email/found.h). Its specs are those of
// FindSpecsJson, its rows those of FindRowCell (domain/email/find_request.h).
class FindEmailBlock final : public RowBlock {
 public:
  // The ids of the providers that verify addresses; empty: none does.
  struct Verifiers {
    std::string whole;     // where the client wants addresses that are verified
    std::string by_dns{};  // otherwise: it drops those that no server can have
  };

  // Everything handed in must outlive this object and its runners.
  FindEmailBlock(base::EventLoop& loop, const base::Clock& clock, metrics::Metrics& metrics,
                 ProviderSet& providers, EmailMemory& memory, const config::LookupsConfig& config,
                 Verifiers verifiers);

  std::string_view type() const override { return "find_email"; }
  std::variant<std::shared_ptr<RowRunner>, std::string> Bind(const std::string& specs_json,
                                                             std::int64_t price_mc) override;

 private:
  base::EventLoop& loop_;
  const base::Clock& clock_;
  metrics::Metrics& metrics_;
  ProviderSet& providers_;
  EmailMemory& memory_;
  const config::LookupsConfig& config_;
  const Verifiers verifiers_;
  DomainTurns turns_;
};

}  // namespace vedette::worker
