#include "worker/providers/page_findings.h"

#include <iterator>
#include <set>
#include <string_view>
#include <utility>

#include "net/url.h"
#include "pages/url_reference.h"

namespace vedette::worker {
namespace {

using domain::Finding;
using domain::Subject;
using domain::SubjectKind;

constexpr double kStated = 8;  // a page says so of its own site
constexpr double kLinked = 5;

// Collects findings about one subject, each thing once.
class Collector {
 public:
  Collector(const base::Uuid& investigation_id, const Subject& subject, const std::string& url)
      : investigation_id_(investigation_id), subject_(subject), url_(url) {}

  // False where the value is none of its type, or was there before.
  bool Add(std::string_view predicate, SubjectKind type, std::string_view value, double confidence,
           std::string evidence) {
    auto read = domain::ReadSubject(type, value);
    auto* to = std::get_if<Subject>(&read);
    if (to == nullptr || *to == subject_ || !seen_.insert(*to).second) return false;
    Finding what;
    what.evidence = std::move(evidence);
    what.sources = {url_};
    what.provider = "website";
    what.confidence = confidence;
    auto both = domain::RelationTo(investigation_id_, subject_, predicate, *to, std::move(what));
    std::move(both.begin(), both.end(), std::back_inserter(findings));
    return true;
  }

  std::vector<Finding> findings;

 private:
  const base::Uuid& investigation_id_;
  const Subject& subject_;
  const std::string& url_;
  std::set<Subject> seen_;
};

}  // namespace

std::vector<Finding> PageFindings(const base::Uuid& investigation_id, const Subject& subject,
                                  const std::string& url, const pages::AddressesOnPage& page) {
  Collector found(investigation_id, subject, url);
  for (const pages::PagePerson& person : page.persons) {
    found.Add("person", SubjectKind::kPerson, person.name, kStated,
              "The page's structured data names " + person.name + ".");
  }
  for (const std::string& address : page.addresses) {
    found.Add("email", SubjectKind::kEmail, address, kStated,
              "The page has the address " + address + ".");
  }
  std::size_t links = 0;
  for (const pages::PageLink& link : page.links) {
    if (links == kPageLinksFoundMax) break;
    const std::string target = pages::ResolveReference(url, link.url);
    net::UrlParts parts;
    std::string error;
    if (target.empty() || !net::SplitUrl(target, &parts, &error)) continue;
    const std::string evidence = "The page links to " + target + ".";
    const bool added =
        pages::SameOrigin(target, url)
            ? found.Add("page", SubjectKind::kUrl, target, kLinked, evidence)
            : found.Add("links_to", SubjectKind::kDomain, parts.host, kLinked, evidence);
    if (added) ++links;
  }
  return std::move(found.findings);
}

}  // namespace vedette::worker
