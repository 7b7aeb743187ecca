#include "worker/providers/lookup_expander.h"

#include <iterator>
#include <optional>
#include <utility>

#include "domain/email/address.h"
#include "domain/people/found_suppression.h"
#include "domain/people/mailbox.h"

namespace vedette::worker {
namespace {

using domain::Finding;
using domain::Subject;
using domain::SubjectKind;

// The same question has the same key, however often it is asked in one investigation.
base::Uuid KeyOf(const ExpandRequest& request) {
  return base::Uuid::V5(request.investigation_id, "lookup|" + request.subject.value);
}

// The company's domain that a person is listed under, where the address is no free mailbox.
std::string DomainOf(const Subject& subject) {
  const auto address = domain::ParseAddress(subject.value);
  return address ? domain::CompanyDomainOf(*address) : std::string();
}

}  // namespace

std::vector<Finding> PersonFindings(const base::Uuid& investigation_id, const Subject& subject,
                                    const domain::PersonAnswer& answer) {
  const auto& [provider, person] = answer;
  Finding like;
  like.provider = provider;
  like.confidence = person.confidence;
  like.evidence = person.evidence;
  like.sources = person.sources;
  std::vector<Finding> findings;
  const auto relate = [&](std::string_view predicate, SubjectKind type, const std::string& value) {
    auto to = domain::ReadSubject(type, value);
    if (!std::holds_alternative<Subject>(to)) return;
    auto both =
        domain::RelationTo(investigation_id, subject, predicate, std::get<Subject>(to), like);
    std::move(both.begin(), both.end(), std::back_inserter(findings));
  };
  const auto state = [&](std::string_view predicate, const std::string& value) {
    if (value.empty()) return;
    Finding finding = like;
    finding.kind = domain::FindingKind::kAttribute;
    finding.subject = subject;
    finding.predicate = predicate;
    finding.object = domain::FindingObject{"text", value};
    findings.push_back(std::move(finding));
  };
  relate("person", SubjectKind::kPerson, person.name);
  relate("company", SubjectKind::kCompany, person.company);
  relate("company_domain", SubjectKind::kDomain, person.domain);
  state("title", person.title);
  state("location", person.location);
  state("profile", person.linkedin);
  for (const std::string& url : person.profiles) {
    if (url != person.linkedin) state("profile", url);
  }
  return findings;
}

struct LookupExpander::Parts {
  ProviderSet& providers;
  EmailMemory& memory;
  const std::vector<std::string> order;
};

// One address on its way. It lives as long as a question about it is under way.
class LookupExpander::Walk : public std::enable_shared_from_this<Walk> {
 public:
  Walk(std::weak_ptr<const Parts> parts, ExpandRequest request,
       std::function<void(ExpandAnswer)> done)
      : parts_(std::move(parts)), request_(std::move(request)), done_(std::move(done)) {}

  void Next(std::size_t provider) {
    const auto parts = parts_.lock();
    if (parts == nullptr) return;
    if (provider == parts->order.size()) return End(std::vector<Finding>());
    if (request_.may_call && !request_.may_call()) return End(Failed(kLookupUnheld));
    LookupRequest asked;
    asked.row_id = KeyOf(request_);
    asked.org_id = request_.org_id;
    asked.job_id = request_.investigation_id;
    asked.lookup = Lookup::kReverseEmail;
    domain::Person person;
    person.email = request_.subject.value;
    asked.person = std::make_shared<const domain::Person>(std::move(person));
    asked.address = request_.subject.value;
    asked.timeout = request_.timeout;
    asked.may_call = request_.may_call;
    parts->providers.Ask(parts->order[provider], std::move(asked),
                         [self = shared_from_this(), provider](Asked answer) {
                           self->OnAsked(provider, std::move(answer));
                         });
  }

 private:
  static domain::Failure Failed(std::string_view error_class) {
    return {std::string(error_class), "The lookup was broken off.", true, {}};
  }

  void OnAsked(std::size_t provider, Asked asked) {
    const auto parts = parts_.lock();
    if (parts == nullptr) return;  // the provider has ended
    const std::string& error_class = asked.shown.error_class;
    if (error_class == "shutdown" || error_class == kLookupUnheld) return End(Failed(error_class));
    if (!asked.person) return Next(provider + 1);
    tries_.push_back(asked.shown);
    persons_.emplace_back(asked.shown.provider, std::move(*asked.person));
    const std::string domain = DomainOf(request_.subject);
    domain::EmailQuestion question;
    question.org_id = request_.org_id;
    question.keys = domain::KeysOfFound(persons_, domain);
    if (question.keys.empty()) return Finish();
    parts->memory.Ask(std::move(question), [self = shared_from_this(),
                                            domain](std::optional<domain::EmailKnowledge> known) {
      if (self->parts_.expired()) return;
      if (!known) return self->End(Failed("database"));
      domain::DropSuppressed(known->suppressed, domain, &self->persons_, &self->tries_);
      self->Finish();
    });
  }

  void Finish() {
    std::vector<Finding> findings;
    for (const domain::PersonAnswer& answer : persons_) {
      auto found = PersonFindings(request_.investigation_id, request_.subject, answer);
      std::move(found.begin(), found.end(), std::back_inserter(findings));
    }
    End(std::move(findings));
  }

  void End(ExpandAnswer answer) { std::exchange(done_, nullptr)(std::move(answer)); }

  const std::weak_ptr<const Parts> parts_;
  const ExpandRequest request_;
  std::function<void(ExpandAnswer)> done_;
  std::vector<domain::PersonAnswer> persons_;
  std::vector<domain::ProviderTry> tries_;
};

LookupExpander::LookupExpander(ProviderSet& providers, EmailMemory& memory,
                               std::vector<std::string> order)
    : parts_(std::make_shared<const Parts>(Parts{providers, memory, std::move(order)})) {}

LookupExpander::~LookupExpander() = default;

bool LookupExpander::Takes(SubjectKind type) const {
  return type == SubjectKind::kEmail;
}

void LookupExpander::Start(ExpandRequest request, std::function<void(ExpandAnswer)> done) {
  std::make_shared<Walk>(parts_, std::move(request), std::move(done))->Next(0);
}

}  // namespace vedette::worker
