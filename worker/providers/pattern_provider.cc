#include "worker/providers/pattern_provider.h"

#include <optional>
#include <utility>
#include <vector>

#include "domain/email/address.h"
#include "domain/email/email_fact.h"
#include "domain/email/person_name.h"
#include "domain/email/suppression.h"

namespace vedette::worker {
namespace {

using domain::EmailKnowledge;

domain::Failure NoDatabase() {
  return {"database", "What the organisation knows cannot be read.", true, std::nullopt};
}

// A candidate as a fact has it; empty where the fact is no answer in this mode.
std::optional<domain::Candidate> CandidateOf(const domain::EmailFact& fact, domain::FindMode mode,
                                             const std::string& company_domain) {
  const auto address = domain::ParseAddress(fact.address);
  if (!address || fact.verdict == domain::Verdict::kRefused) return std::nullopt;
  const bool is_companys = domain::IsOfCompany(*address, company_domain);
  if (is_companys != (mode == domain::FindMode::kProfessional)) return std::nullopt;
  domain::Candidate candidate;
  candidate.address = fact.address;
  candidate.stated = fact.stated;
  candidate.status = fact.verdict == domain::Verdict::kOk ? domain::AddressStatus::kOk
                                                          : domain::AddressStatus::kUnknown;
  candidate.sources = fact.sources;
  candidate.confidence = domain::ConfidenceOf(candidate);
  return candidate;
}

// The person that the local part of the address names.
domain::Person NamedBy(const domain::Address& address) {
  domain::Person person;
  person.name = domain::NameOfLocalPart(address.Text());
  person.domain = address.domain;
  return person;
}

// The person of the fact, of whom nothing is kept but a digest of name and domain: known where the
// name that the local part is made of has it.
LookupAnswer PersonOf(const domain::Person& person, const std::string& address,
                      const domain::EmailFact& fact) {
  const bool is_known = fact.address == address && !fact.person_key.empty() &&
                        fact.verdict != domain::Verdict::kRefused &&
                        domain::PersonKey(person) == fact.person_key;
  if (!is_known) return Nothing{};
  domain::PersonFound found;
  found.name = person.name;
  found.confidence = StoreProvider::kNameConfidence;
  found.sources = fact.sources;
  found.evidence = "An earlier lookup of the organisation found the address for this name.";
  return found;
}

}  // namespace

void PatternProvider::Start(LookupRequest request, std::function<void(LookupAnswer)> done) {
  const std::string domain = domain::CompanyDomain(*request.person);
  const bool may = request.mode == domain::FindMode::kProfessional && !domain.empty() &&
                   !domain::IsFreeMailboxDomain(domain);
  auto names = domain::RenderName(*request.person, domain);
  if (!may || std::holds_alternative<domain::NameFault>(names)) return done(Nothing{});
  domain::EmailQuestion question;
  question.org_id = request.org_id;
  question.domain = domain;
  memory_.Ask(std::move(question), [done = std::move(done), domain, guesses_max = guesses_max_,
                                    names = std::get<std::vector<domain::NameRendering>>(std::move(
                                        names))](const std::optional<EmailKnowledge>& known) {
    if (!known) return done(NoDatabase());
    domain::Candidates candidates;
    for (auto& guess : GuessLocalParts(names, known->patterns, guesses_max)) {
      domain::Candidate& candidate = candidates.emplace_back();
      candidate.address = guess.local + '@' + domain;
      candidate.stated = false;
      candidate.pattern = guess.pattern;
      candidate.seen = guess.seen;
      candidate.confidence = domain::ConfidenceOf(candidate);
    }
    if (candidates.empty()) return done(Nothing{});
    done(std::move(candidates));
  });
}

std::string_view StoreProvider::id() const {
  return domain::kStoreProvider;
}

void StoreProvider::Start(LookupRequest request, std::function<void(LookupAnswer)> done) {
  if (request.lookup == Lookup::kReverseEmail) return Reverse(request, std::move(done));
  if (request.lookup == Lookup::kCompanyDomain) return Company(request, std::move(done));
  domain::EmailQuestion question;
  question.org_id = request.org_id;
  question.person_key = domain::PersonKey(*request.person);
  if (question.person_key.empty()) return done(Nothing{});
  memory_.Ask(std::move(question), [done = std::move(done), mode = request.mode,
                                    domain = domain::CompanyDomain(*request.person)](
                                       const std::optional<EmailKnowledge>& known) {
    if (!known) return done(NoDatabase());
    domain::Candidates candidates;
    for (const domain::EmailFact& fact : known->facts) {
      if (auto candidate = CandidateOf(fact, mode, domain)) {
        candidates.push_back(std::move(*candidate));
      }
    }
    if (candidates.empty()) return done(Nothing{});
    done(std::move(candidates));
  });
}

void StoreProvider::Company(const LookupRequest& request, std::function<void(LookupAnswer)> done) {
  domain::EmailQuestion question;
  question.org_id = request.org_id;
  question.company_key = domain::CompanyKey(request.person->company);
  if (question.company_key.empty()) return done(Nothing{});
  memory_.Ask(std::move(question),
              [done = std::move(done)](const std::optional<EmailKnowledge>& known) {
                if (!known) return done(NoDatabase());
                std::string domain = domain::AgreedDomain(known->company_domains);
                if (domain.empty()) return done(Nothing{});
                done(CompanyDomainFound{std::move(domain)});
              });
}

void StoreProvider::Reverse(const LookupRequest& request, std::function<void(LookupAnswer)> done) {
  const auto address = domain::ParseAddress(request.address);
  if (!address) return done(Nothing{});
  domain::Person person = NamedBy(*address);
  if (person.name.empty()) return done(Nothing{});
  domain::EmailQuestion question;
  question.org_id = request.org_id;
  question.address = address->Key();
  question.person_key = domain::PersonKey(person);
  std::string key = question.address;  // kept apart: arguments are made in any order
  memory_.Ask(std::move(question),
              [done = std::move(done), person = std::move(person),
               address = std::move(key)](const std::optional<EmailKnowledge>& known) {
                if (!known) return done(NoDatabase());
                for (const domain::EmailFact& fact : known->facts) {
                  LookupAnswer answer = PersonOf(person, address, fact);
                  if (!std::holds_alternative<Nothing>(answer)) return done(std::move(answer));
                }
                done(Nothing{});
              });
}

}  // namespace vedette::worker
