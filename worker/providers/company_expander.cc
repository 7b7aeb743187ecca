#include "worker/providers/company_expander.h"

#include <optional>
#include <utility>

namespace vedette::worker {
namespace {

using domain::Finding;
using domain::Subject;
using domain::SubjectKind;

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
