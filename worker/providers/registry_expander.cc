#include "worker/providers/registry_expander.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <variant>

#include "base/json.h"
#include "base/text.h"
#include "worker/providers/site_crawler.h"

namespace vedette::worker {
namespace {

using base::Json;
using domain::Finding;
using domain::Subject;
using domain::SubjectKind;

constexpr double kRegistered = 9;  // a registry says so
constexpr double kCertified = 7;   // somebody has had a certificate for it
constexpr int kDepthMax = 32;
constexpr std::size_t kValuesMax = 100'000;
// Statuses, name servers and entities of one answer that are looked at.
constexpr std::size_t kItemsMax = 16;

std::string TextAt(const Json& object, const char* key) {
  if (!object.is_object()) return {};
  const auto it = object.find(key);
  return it != object.end() && it->is_string() ? it->get<std::string>() : std::string();
}

// The first items of a list; none where it is no list.
std::vector<const Json*> ItemsAt(const Json& object, const char* key) {
  std::vector<const Json*> items;
  if (!object.is_object()) return items;
  const auto it = object.find(key);
  if (it == object.end() || !it->is_array()) return items;
  for (const Json& item : *it) {
    if (items.size() == kItemsMax) break;
    items.push_back(&item);
  }
  return items;
}

bool IsRedacted(const std::string& text) {
  return base::AsciiLower(text).find("redacted") != std::string::npos;
}

// Collects findings about one subject, each thing once.
class Collector {
 public:
  Collector(const base::Uuid& investigation_id, const Subject& subject, const std::string& url,
            std::string provider, double confidence)
      : investigation_id_(investigation_id), subject_(subject) {
    like_.sources = {url};
    like_.provider = std::move(provider);
    like_.confidence = confidence;
  }

  void State(std::string_view predicate, const std::string& value, std::string evidence) {
    if (value.empty() || IsRedacted(value)) return;
    Finding finding = like_;
    finding.kind = domain::FindingKind::kAttribute;
    finding.subject = subject_;
    finding.predicate = predicate;
    finding.object =
        domain::FindingObject{"text", base::CutCharacters(value, domain::kSubjectCharsMax)};
    finding.evidence = std::move(evidence);
    findings.push_back(std::move(finding));
  }

  void Relate(std::string_view predicate, SubjectKind type, const std::string& value,
              std::string evidence) {
    if (IsRedacted(value)) return;
    auto read = domain::ReadSubject(type, value);
    auto* to = std::get_if<Subject>(&read);
    if (to == nullptr || *to == subject_) return;
    if (!seen_.emplace(std::string(predicate), *to).second) return;
    Finding what = like_;
    what.evidence = std::move(evidence);
    auto both = domain::RelationTo(investigation_id_, subject_, predicate, *to, std::move(what));
    std::move(both.begin(), both.end(), std::back_inserter(findings));
  }

  std::vector<Finding> findings;

 private:
  const base::Uuid& investigation_id_;
  const Subject& subject_;
  Finding like_;
  std::set<std::pair<std::string, Subject>> seen_;
};

// A property of an entity's card (RFC 7095): ["fn", {}, "text", value].
std::string CardText(const Json& entity, std::string_view name) {
  const auto card = ItemsAt(entity, "vcardArray");
  if (card.size() < 2 || !card[1]->is_array()) return {};
  for (const Json& property : *card[1]) {
    if (!property.is_array() || property.size() < 4 || property[0] != Json(name)) continue;
    if (property[3].is_string()) return property[3].get<std::string>();
  }
  return {};
}

bool HasRole(const Json& entity, std::string_view role) {
  for (const Json* given : ItemsAt(entity, "roles")) {
    if (*given == Json(role)) return true;
  }
  return false;
}

void AddEntity(const Json& entity, Collector* found) {
  const std::string name = CardText(entity, "fn");
  if (HasRole(entity, "registrar")) {
    found->Relate("registrar", SubjectKind::kCompany, name, "The registrar is " + name + ".");
  }
  if (HasRole(entity, "registrant")) {
    const bool is_person = CardText(entity, "kind") == "individual";
    found->Relate("registrant", is_person ? SubjectKind::kPerson : SubjectKind::kCompany, name,
                  "It is registered for " + name + ".");
  }
  for (const char* role : {"registrant", "administrative", "technical"}) {
    if (!HasRole(entity, role)) continue;
    const std::string address = CardText(entity, "email");
    found->Relate("registration_email", SubjectKind::kEmail, address,
                  "The address of the " + std::string(role) + " contact is " + address + ".");
  }
}

std::optional<Json> Parse(std::string_view body) {
  Json json;
  if (base::ParseJson(body, &json, {.depth_max = kDepthMax, .values_max = kValuesMax})) {
    return std::nullopt;
  }
  return json;
}

void AddDomain(const Json& answer, Collector* found) {
  static constexpr std::pair<const char*, const char*> kEvents[] = {
      {"registration", "registered_at"},
      {"expiration", "registration_expires_at"},
      {"last changed", "registration_changed_at"}};
  for (const Json* event : ItemsAt(answer, "events")) {
    for (const auto& [action, predicate] : kEvents) {
      if (TextAt(*event, "eventAction") != action) continue;
      const std::string date = TextAt(*event, "eventDate");
      found->State(predicate, date,
                   std::string("The registry has the event ") + action + " of " + date + ".");
    }
  }
  for (const Json* status : ItemsAt(answer, "status")) {
    if (!status->is_string()) continue;
    const auto text = status->get<std::string>();
    found->State("registration_status", text, "The registry has the status " + text + ".");
  }
  for (const Json* server : ItemsAt(answer, "nameservers")) {
    const std::string host = TextAt(*server, "ldhName");
    found->Relate("name_server", SubjectKind::kDomain, host, "The registry names " + host + ".");
  }
}

void AddNetwork(const Json& answer, Collector* found) {
  const std::string name = TextAt(answer, "name");
  found->State("network_name", name, "The network is called " + name + ".");
  const std::string first = TextAt(answer, "startAddress");
  const std::string last = TextAt(answer, "endAddress");
  if (!first.empty() && !last.empty()) {
    found->State("network_range", first + " - " + last,
                 "The network has the addresses from " + first + " to " + last + ".");
  }
  const std::string country = TextAt(answer, "country");
  found->State("network_country", country, "The network is registered in " + country + ".");
}

// The names of an entry of a log, a line each.
std::vector<std::string> NamesOfEntry(const Json& entry) {
  std::vector<std::string> names;
  std::string text = base::AsciiLower(TextAt(entry, "name_value"));
  text += '\n';
  for (std::size_t at = 0, end; (end = text.find('\n', at)) != std::string::npos; at = end + 1) {
    std::string name = text.substr(at, end - at);
    if (name.starts_with("*.")) name.erase(0, 2);
    if (!name.empty() && name.find('@') == std::string::npos) names.push_back(std::move(name));
  }
  return names;
}

}  // namespace

std::vector<Finding> RdapFindings(const base::Uuid& investigation_id, const Subject& subject,
                                  const std::string& url, std::string_view body) {
  Collector found(investigation_id, subject, url, "rdap", kRegistered);
  const auto answer = Parse(body);
  if (!answer) return {};
  const std::string kind = TextAt(*answer, "objectClassName");
  const bool is_domain = kind == "domain" && subject.type == SubjectKind::kDomain;
  const bool is_network = kind == "ip network" && subject.type == SubjectKind::kIp;
  if (is_domain) AddDomain(*answer, &found);
  if (is_network) AddNetwork(*answer, &found);
  if (is_domain || is_network) {
    for (const Json* entity : ItemsAt(*answer, "entities")) AddEntity(*entity, &found);
  }
  return std::move(found.findings);
}

std::vector<Finding> CertificateFindings(const base::Uuid& investigation_id, const Subject& subject,
                                         const std::string& url, std::string_view body) {
  Collector found(investigation_id, subject, url, "ct", kCertified);
  const auto answer = Parse(body);
  if (!answer || !answer->is_array()) return {};
  std::set<std::string> names;
  for (const Json& entry : *answer) {
    for (std::string& name : NamesOfEntry(entry)) {
      if (!name.ends_with("." + subject.value)) continue;
      if (names.size() == kCertificateNamesMax) return std::move(found.findings);
      if (!names.insert(name).second) continue;
      found.Relate("certificate_name", SubjectKind::kDomain, name,
                   "A certificate of " + TextAt(entry, "not_before") + " names " + name + ".");
    }
  }
  return std::move(found.findings);
}

namespace {

using std::chrono::milliseconds;

struct FindingsReading final : html::Reading {
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

RegistryExpander::RegistryExpander(html::Fetcher& fetcher, Registry registry)
    : fetcher_(fetcher), registry_(std::move(registry)) {}

RegistryExpander::~RegistryExpander() = default;

bool RegistryExpander::Takes(SubjectKind type) const {
  return !registry_.url({type, ""}).empty();
}

void RegistryExpander::Start(ExpandRequest request, std::function<void(ExpandAnswer)> done) {
  const std::string url = registry_.url(request.subject);
  if (url.empty() || !request.may_call()) return done(NothingFound());
  html::FetchRequest fetch;
  fetch.org_id = request.org_id;
  fetch.url = url;
  fetch.body_bytes_max = kAnswerBytesMax;
  fetch.timeout = std::min(request.timeout, kTimeMax);
  fetch.turn_wait_max = fetch.timeout;
  fetch.thread_wait_max = fetch.timeout;
  auto read = [id = request.investigation_id, subject = request.subject, url,
               read = registry_.read](const html::FetchedPage& page, html::ReadingTime&) {
    auto reading = std::make_shared<FindingsReading>();
    reading->findings = read(id, subject, url, page.body);
    return html::Fetched(std::shared_ptr<const html::Reading>(std::move(reading)));
  };
  FetchHeld(fetcher_, std::move(fetch), request.may_call, std::move(read),
            live_.Guard([done = std::move(done)](const html::Fetched& fetched) {
              if (const auto* failure = std::get_if<domain::Failure>(&fetched)) {
                return done(SaysNothing(*failure) ? ExpandAnswer(*failure) : NothingFound());
              }
              const auto& reading = *std::get<std::shared_ptr<const html::Reading>>(fetched);
              done(static_cast<const FindingsReading&>(reading).findings);
            }));
}

}  // namespace vedette::worker
