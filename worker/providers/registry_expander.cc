#include "worker/providers/registry_expander.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <variant>

#include "worker/providers/held_fetch.h"
#include "worker/providers/registry_findings.h"

namespace vedette::worker {
namespace {

using domain::Subject;
using domain::SubjectKind;
using std::chrono::milliseconds;

struct FindingsReading final : pages::Reading {
  std::vector<domain::Finding> findings;
  std::size_t bytes() const override { return sizeof *this; }
};

std::string WithSlash(std::string url) {
  if (!url.ends_with('/')) url += '/';
  return url;
}

ExpandAnswer NothingFound() {
  return std::vector<domain::Finding>();
}

}  // namespace

Registry RdapRegistry(std::string base_url) {
  const auto url = [base = WithSlash(std::move(base_url))](const Subject& subject) -> std::string {
    if (subject.type == SubjectKind::kDomain) return base + "domain/" + subject.value;
    if (subject.type == SubjectKind::kIp) return base + "ip/" + subject.value;
    return {};
  };
  return {RegistryExpander::kRdap, url, RdapFindings};
}

Registry CertificateRegistry(std::string base_url) {
  const auto url = [base = WithSlash(std::move(base_url))](const Subject& subject) -> std::string {
    if (subject.type != SubjectKind::kDomain) return {};
    return base + "?q=%25." + subject.value + "&output=json&deduplicate=Y";
  };
  return {RegistryExpander::kCertificates, url, CertificateFindings};
}

RegistryExpander::RegistryExpander(pages::Fetcher& fetcher, Registry registry)
    : fetcher_(fetcher), registry_(std::move(registry)) {}

RegistryExpander::~RegistryExpander() = default;

bool RegistryExpander::Takes(SubjectKind type) const {
  return !registry_.url({type, ""}).empty();
}

void RegistryExpander::Start(ExpandRequest request, std::function<void(ExpandAnswer)> done) {
  const std::string url = registry_.url(request.subject);
  if (url.empty() || (request.may_call && !request.may_call())) return done(NothingFound());
  pages::FetchRequest fetch;
  fetch.org_id = request.org_id;
  fetch.url = url;
  fetch.body_bytes_max = kAnswerBytesMax;
  fetch.timeout = std::min(request.timeout, kTimeMax);
  fetch.turn_wait_max = fetch.timeout;
  fetch.thread_wait_max = fetch.timeout;
  auto read = [id = request.investigation_id, subject = request.subject, url,
               read = registry_.read](const pages::FetchedPage& page, pages::ReadingTime&) {
    auto reading = std::make_shared<FindingsReading>();
    reading->findings = read(id, subject, url, page.body);
    return pages::Fetched(std::shared_ptr<const pages::Reading>(std::move(reading)));
  };
  FetchHeld(fetcher_, std::move(fetch), request.may_call, std::move(read),
            live_.Guard([done = std::move(done)](const pages::Fetched& fetched) {
              if (const auto* failure = std::get_if<domain::Failure>(&fetched)) {
                return done(SaysNothing(*failure) ? ExpandAnswer(*failure) : NothingFound());
              }
              const auto& reading = *std::get<std::shared_ptr<const pages::Reading>>(fetched);
              done(static_cast<const FindingsReading&>(reading).findings);
            }));
}

}  // namespace vedette::worker
