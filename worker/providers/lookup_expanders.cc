#include "worker/providers/lookup_expanders.h"

#include <cstddef>
#include <iterator>
#include <optional>
#include <utility>

#include "domain/email/address.h"
#include "domain/people/people_answer.h"
#include "html/http_failure.h"

namespace vedette::worker {
namespace {

// It lives as long as a question of it is under way, but keeps nobody's ProviderOrder alive.
class Scan : public std::enable_shared_from_this<Scan> {
 public:
  Scan(std::weak_ptr<const ProviderOrder> order, ProviderScan scan,
       std::function<void(ExpandAnswer)> done)
      : order_(std::move(order)), scan_(std::move(scan)), done_(std::move(done)) {}

  void Ask(std::size_t provider) {
    const auto order = order_.lock();
    if (order == nullptr) return;
    if (provider == order->ids.size()) return End(std::vector<domain::Finding>());
    if (!scan_.question.may_call()) return End(BrokenOff(kLookupUnheld));
    order->providers.Ask(order->ids[provider], scan_.question,
                         [self = shared_from_this(), provider](Asked answer) {
                           self->OnAsked(provider, std::move(answer));
                         });
  }

 private:
  void OnAsked(std::size_t provider, Asked asked) {
    if (order_.expired()) return;
    const std::string& error_class = asked.shown.error_class;
    if (error_class == html::kShutdown || error_class == kLookupUnheld) {
      return End(BrokenOff(error_class));
    }
    scan_.weigh(std::move(asked),
                [self = shared_from_this(), provider](std::optional<ExpandAnswer> answer) {
                  if (self->order_.expired()) return;
                  if (!answer) return self->Ask(provider + 1);
                  self->End(std::move(*answer));
                });
  }

  void End(ExpandAnswer answer) { std::exchange(done_, nullptr)(std::move(answer)); }

  const std::weak_ptr<const ProviderOrder> order_;
  const ProviderScan scan_;
  std::function<void(ExpandAnswer)> done_;
};

}  // namespace

domain::Failure BrokenOff(std::string_view error_class) {
  return {std::string(error_class), "The lookup was broken off.", true, {}};
}

void ScanProviders(const std::shared_ptr<const ProviderOrder>& order, const ExpandRequest& request,
                   ProviderScan scan, std::function<void(ExpandAnswer)> done) {
  scan.question.org_id = request.org_id;
  scan.question.job_id = request.investigation_id;
  scan.question.timeout = request.timeout;
  scan.question.may_call = request.may_call;
  std::make_shared<Scan>(order, std::move(scan), std::move(done))->Ask(0);
}

namespace {

using domain::Finding;
using domain::Subject;
using domain::SubjectKind;

// The company's domain that a person is listed under, where the address is no free mailbox.
std::string DomainOf(const Subject& subject) {
  const auto address = domain::ParseAddress(subject.value);
  return address ? domain::CompanyDomainOf(*address) : std::string();
}

// What a provider said of who is behind an address, while the suppression list is asked about them.
struct Answered {
  base::Uuid investigation_id;
  Subject subject;
  std::vector<domain::PersonAnswer> persons;
  std::vector<domain::ProviderTry> tries;
};

std::vector<Finding> FindingsOf(const Answered& answered) {
  std::vector<Finding> findings;
  for (const domain::PersonAnswer& answer : answered.persons) {
    auto found = PersonFindings(answered.investigation_id, answered.subject, answer);
    std::move(found.begin(), found.end(), std::back_inserter(findings));
  }
  return findings;
}

// Takes those on the suppression list out, and ends the scan with the others.
void WeighPerson(EmailMemory& memory, const base::Uuid& org_id, Answered answered,
                 const Weighed& weighed) {
  const std::string domain = DomainOf(answered.subject);
  domain::EmailQuestion question;
  question.org_id = org_id;
  question.keys = domain::KeysOfFound(answered.persons, domain);
  if (question.keys.empty()) return weighed(FindingsOf(answered));
  memory.Ask(std::move(question), [answered = std::move(answered), domain, weighed](
                                      const std::optional<domain::EmailKnowledge>& known) mutable {
    if (!known) return weighed(BrokenOff("database"));
    domain::DropSuppressed(known->suppressed, domain, &answered.persons, &answered.tries);
    weighed(FindingsOf(answered));
  });
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

LookupExpander::LookupExpander(ProviderSet& providers, EmailMemory& memory,
                               std::vector<std::string> order)
    : memory_(memory),
      order_(std::make_shared<const ProviderOrder>(ProviderOrder{providers, std::move(order)})) {}

bool LookupExpander::Takes(SubjectKind type) const {
  return type == SubjectKind::kEmail;
}

void LookupExpander::Start(ExpandRequest request, std::function<void(ExpandAnswer)> done) {
  ProviderScan scan;
  // The same question has the same key, however often it is asked in one investigation.
  scan.question.row_id =
      base::Uuid::V5(request.investigation_id, "lookup|" + request.subject.value);
  scan.question.lookup = Lookup::kReverseEmail;
  domain::Person person;
  person.email = request.subject.value;
  scan.question.person = std::make_shared<const domain::Person>(std::move(person));
  scan.question.address = request.subject.value;
  scan.weigh = [&memory = memory_, org_id = request.org_id, id = request.investigation_id,
                subject = request.subject](Asked asked, const Weighed& weighed) {
    if (!asked.person) return weighed(std::nullopt);
    Answered answered{id, subject, {}, {asked.shown}};
    answered.persons.emplace_back(asked.shown.provider, std::move(*asked.person));
    WeighPerson(memory, org_id, std::move(answered), weighed);
  };
  ScanProviders(order_, request, std::move(scan), std::move(done));
}

namespace {

// A name is looked up, and what has it need not be the company that was meant.
constexpr double kByName = 5;

std::vector<Finding> DomainFindings(const base::Uuid& investigation_id, const Subject& company,
                                    const std::string& provider, const std::string& domain) {
  auto to = domain::ReadSubject(SubjectKind::kDomain, domain);
  if (!std::holds_alternative<Subject>(to)) return {};
  Finding what;
  what.provider = provider;
  what.confidence = kByName;
  what.evidence = "The lookup of the company's name gives this domain.";
  return domain::RelationTo(investigation_id, company, "company_domain", std::get<Subject>(to),
                            std::move(what));
}

}  // namespace

CompanyExpander::CompanyExpander(ProviderSet& providers, std::vector<std::string> order)
    : order_(std::make_shared<const ProviderOrder>(ProviderOrder{providers, std::move(order)})) {}

bool CompanyExpander::Takes(SubjectKind type) const {
  return type == SubjectKind::kCompany && !order_->ids.empty();
}

void CompanyExpander::Start(ExpandRequest request, std::function<void(ExpandAnswer)> done) {
  ProviderScan scan;
  // The same question has the same key, however often it is asked in one investigation.
  scan.question.row_id =
      base::Uuid::V5(request.investigation_id, "company|" + request.subject.value);
  scan.question.lookup = Lookup::kCompanyDomain;
  domain::Person person;
  person.company = request.subject.value;
  scan.question.person = std::make_shared<const domain::Person>(std::move(person));
  scan.weigh = [id = request.investigation_id, company = request.subject](const Asked& asked,
                                                                          const Weighed& weighed) {
    auto found = DomainFindings(id, company, asked.shown.provider, asked.domain);
    if (found.empty()) return weighed(std::nullopt);
    weighed(std::move(found));
  };
  ScanProviders(order_, request, std::move(scan), std::move(done));
}

}  // namespace vedette::worker
