#include "worker/providers/company_expander.h"

#include <utility>

namespace vedette::worker {
namespace {

using domain::Finding;
using domain::Subject;
using domain::SubjectKind;

// A name is looked up, and what has it need not be the company that was meant.
constexpr double kByName = 5;

// The same question has the same key, however often it is asked in one investigation.
base::Uuid KeyOf(const ExpandRequest& request) {
  return base::Uuid::V5(request.investigation_id, "company|" + request.subject.value);
}

std::vector<Finding> DomainFindings(const ExpandRequest& request, const std::string& provider,
                                    const std::string& domain) {
  auto to = domain::ReadSubject(SubjectKind::kDomain, domain);
  if (!std::holds_alternative<Subject>(to)) return {};
  Finding what;
  what.provider = provider;
  what.confidence = kByName;
  what.evidence = "The lookup of the company's name gives this domain.";
  return domain::RelationTo(request.investigation_id, request.subject, "company_domain",
                            std::get<Subject>(to), std::move(what));
}

}  // namespace

struct CompanyExpander::Parts {
  ProviderSet& providers;
  const std::vector<std::string> order;
};

// One company on its way. It lives as long as a question about it is under way.
class CompanyExpander::Walk : public std::enable_shared_from_this<Walk> {
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
    asked.lookup = Lookup::kCompanyDomain;
    domain::Person person;
    person.company = request_.subject.value;
    asked.person = std::make_shared<const domain::Person>(std::move(person));
    asked.timeout = request_.timeout;
    asked.may_call = request_.may_call;
    parts->providers.Ask(parts->order[provider], std::move(asked),
                         [self = shared_from_this(), provider](const Asked& answer) {
                           self->OnAsked(provider, answer);
                         });
  }

 private:
  static domain::Failure Failed(std::string_view error_class) {
    return {std::string(error_class), "The lookup was broken off.", true, {}};
  }

  void OnAsked(std::size_t provider, const Asked& asked) {
    if (parts_.expired()) return;  // the provider has ended
    const std::string& error_class = asked.shown.error_class;
    if (error_class == "shutdown" || error_class == kLookupUnheld) return End(Failed(error_class));
    auto found = DomainFindings(request_, asked.shown.provider, asked.domain);
    if (found.empty()) return Next(provider + 1);
    End(std::move(found));
  }

  void End(ExpandAnswer answer) { std::exchange(done_, nullptr)(std::move(answer)); }

  const std::weak_ptr<const Parts> parts_;
  const ExpandRequest request_;
  std::function<void(ExpandAnswer)> done_;
};

CompanyExpander::CompanyExpander(ProviderSet& providers, std::vector<std::string> order)
    : parts_(std::make_shared<const Parts>(Parts{providers, std::move(order)})) {}

CompanyExpander::~CompanyExpander() = default;

bool CompanyExpander::Takes(SubjectKind type) const {
  return type == SubjectKind::kCompany && !parts_->order.empty();
}

void CompanyExpander::Start(ExpandRequest request, std::function<void(ExpandAnswer)> done) {
  std::make_shared<Walk>(parts_, std::move(request), std::move(done))->Next(0);
}

}  // namespace vedette::worker
