#include "domain/people/people_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "base/json.h"
#include "base/text.h"
#include "domain/email/address.h"

namespace vedette::domain {
namespace {

using Kind = LeadFault::Kind;

base::Json SpecsJson(const PeopleRequest& request) {
  base::Json json = base::Json::object();
  json["providers"] = request.providers;
  json["charge"] = ChargeRuleName(request.charge);
  json["minimum_age"] = request.minimum_age;
  return json;
}

// Adds a page; what is wrong with it, or nothing.
std::optional<LeadFault> AddUrl(const base::Json& value, const std::string& key,
                                std::vector<std::string>* urls) {
  if (!value.is_string()) return LeadFault{Kind::kNotString, key, "must be a string or null"};
  const auto& text = value.get_ref<const std::string&>();
  if (base::CountCharacters(text) > kLeadValueCharactersMax) {
    return LeadFault{Kind::kValueTooLong, key,
                     fmt::format("must have at most {} characters", kLeadValueCharactersMax)};
  }
  const std::string url(base::Trim(text));
  if (!url.empty()) urls->push_back(url);
  return std::nullopt;
}

std::optional<LeadFault> ReadUrls(const base::Json& subject, std::vector<std::string>* urls) {
  if (const auto url = subject.find("url"); url != subject.end() && !url->is_null()) {
    if (auto fault = AddUrl(*url, "url", urls)) return fault;
  }
  const auto list = subject.find("urls");
  if (list == subject.end() || list->is_null()) return std::nullopt;
  if (!list->is_array() || list->size() > kSubjectUrlsMax) {
    return LeadFault{Kind::kNotString, "urls",
                     fmt::format("must be an array of at most {} strings", kSubjectUrlsMax)};
  }
  for (const base::Json& url : *list) {
    if (auto fault = AddUrl(url, "urls", urls)) return fault;
  }
  return std::nullopt;
}

// Adds the page that "website" names, where it names one and not a host alone.
void AddWebsitePage(const base::Json& subject, std::vector<std::string>* urls) {
  const auto website = subject.find("website");
  if (website == subject.end() || !website->is_string()) return;
  std::string url(base::Trim(website->get_ref<const std::string&>()));
  if (!FindDomain(url)) return;
  if (url.find("://") == std::string::npos) url.insert(0, "https://");
  const auto path = url.find('/', url.find("://") + 3);
  if (path == std::string::npos || path + 1 == url.size() || url[path + 1] == '#') return;
  if (std::find(urls->begin(), urls->end(), url) == urls->end()) urls->push_back(std::move(url));
}

}  // namespace

std::string PeopleParamsJson(const PeopleRequest& request) {
  base::Json json = base::Json::object();
  base::Json& rows = json["rows"] = base::Json::array();
  for (const FindRow& row : request.rows) rows.push_back(FindRowCell(row));
  json.update(SpecsJson(request));
  return base::DumpJson(json);
}

std::string PeopleSpecsJson(const PeopleRequest& request) {
  return base::DumpJson(SpecsJson(request));
}

PeopleRequest ReadPeopleRequest(std::string_view json) {
  base::Json stored = base::ReadJsonCell(json);  // a lead comes back with its numbers as they were
  try {
    PeopleRequest request;
    request.providers = stored.at("providers").get<std::vector<std::string>>();
    request.charge = ParseChargeRule(stored.at("charge").get_ref<const std::string&>());
    request.minimum_age = stored.at("minimum_age").get<int>();
    if (const auto rows = stored.find("rows"); rows != stored.end()) {
      for (base::Json& cell : *rows) request.rows.push_back(ReadFindRow(std::move(cell)));
    }
    return request;
  } catch (const base::Json::exception&) {
    throw std::invalid_argument("a stored lookup of a person is not of the form of one");
  }
}

std::int64_t ReverseEstimateMc(const PeopleRequest& request, std::int64_t price_mc) {
  const auto costs = [](const FindRow& row) {
    const auto address = ParseAddress(AddressOf(row.lead.Value()));
    return !row.copy_of && address && IsPersons(*address);
  };
  return price_mc * std::count_if(request.rows.begin(), request.rows.end(), costs);
}

std::string AddressOf(const base::Json& lead) {
  const auto read = ReadLead(lead);
  const auto* person = std::get_if<Person>(&read);
  return person == nullptr ? std::string() : person->email;
}

std::variant<AgeSubject, LeadFault> ReadSubject(const base::Json& subject) {
  auto read = ReadLead(subject);
  AgeSubject result;
  if (auto* fault = std::get_if<LeadFault>(&read)) {
    if (fault->kind != Kind::kEmpty) return std::move(*fault);
  } else {
    result.person = std::get<Person>(std::move(read));
  }
  if (auto fault = ReadUrls(subject, &result.urls)) return std::move(*fault);
  AddWebsitePage(subject, &result.urls);
  if (result.urls.empty() && result.person == Person()) {
    auto nothing = std::get<LeadFault>(ReadLead(base::Json::object()));
    nothing.message += ", url, urls";
    return nothing;
  }
  return result;
}

}  // namespace vedette::domain
