#include "worker/providers/pattern_provider.h"

#include <optional>
#include <utility>
#include <vector>

#include "domain/email/address.h"
#include "domain/email/find_lesson.h"
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
  const bool is_companys = address->domain == company_domain;
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
      candidate.is_learned = guess.is_learned;
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

}  // namespace vedette::worker
