#include "domain/investigation/finding.h"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

#include <arpa/inet.h>
#include <fmt/format.h>

#include "base/json.h"
#include "base/text.h"
#include "domain/email/address.h"
#include "domain/text/name_table.h"

namespace vedette::domain {
namespace {

constexpr std::array<std::string_view, 7> kTypeNames = {"email", "domain", "person", "company",
                                                        "url",   "phone",  "ip"};

bool IsWebAddress(std::string_view text) {
  const std::string lower = base::AsciiLower(text.substr(0, 8));
  const std::size_t scheme = lower.starts_with("https://")  ? 8
                             : lower.starts_with("http://") ? 7
                                                            : 0;
  return scheme > 0 && text.size() > scheme && text.find(' ') == std::string_view::npos;
}

bool IsIpAddress(const std::string& text) {
  in6_addr bytes{};  // has room for either
  return text.find('\0') == std::string::npos && (inet_pton(AF_INET, text.c_str(), &bytes) == 1 ||
                                                  inet_pton(AF_INET6, text.c_str(), &bytes) == 1);
}

}  // namespace

std::string_view SubjectKindName(SubjectKind type) {
  return NameIn(kTypeNames, type);
}

std::optional<SubjectKind> ParseSubjectKind(std::string_view name) {
  return FindIn<SubjectKind>(kTypeNames, name);
}

std::variant<Subject, std::string> ReadSubject(SubjectKind type, std::string_view value) {
  std::string text(base::Trim(value));
  if (text.empty()) return "should not be blank";
  if (base::CountCharacters(text) > kSubjectCharsMax) return "should have at most 500 characters";
  switch (type) {
    case SubjectKind::kEmail: {
      const auto address = ParseAddress(text);
      if (!address) return "should be an address of email";
      text = address->Key();
      break;
    }
    case SubjectKind::kDomain: {
      const auto domain = ParseDomain(text);
      if (!domain) return "should be a domain";
      text = InALabels(*domain);
      break;
    }
    case SubjectKind::kUrl:
      if (!IsWebAddress(text)) return "should begin with http:// or https://";
      break;
    case SubjectKind::kIp:
      if (!IsIpAddress(text)) return "should be an IP address";
      break;
    case SubjectKind::kPerson:
    case SubjectKind::kCompany:
    case SubjectKind::kPhone:
      break;
  }
  return Subject{type, std::move(text)};
}

base::Json SubjectJson(const Subject& subject) {
  return {{"type", SubjectKindName(subject.type)}, {"value", subject.value}};
}

Subject SubjectOf(const base::Json& json) {
  const bool has_both = json.is_object() && json.contains("type") && json["type"].is_string() &&
                        json.contains("value") && json["value"].is_string();
  const auto type =
      has_both ? ParseSubjectKind(json["type"].get<std::string>()) : std::optional<SubjectKind>();
  if (!type) throw std::invalid_argument("this is no subject");
  return {*type, json["value"].get<std::string>()};
}

void EraseSubject(base::Json* json) {
  if (json->is_object()) {
    (*json)["value"] = nullptr;
  } else {
    *json = nullptr;
  }
}

bool IsErasedSubject(const base::Json& json) {
  if (json.is_null()) return true;
  return json.is_object() && json.contains("value") && json["value"].is_null();
}

bool IsExpandable(SubjectKind type) {
  return type == SubjectKind::kEmail || type == SubjectKind::kDomain || type == SubjectKind::kUrl ||
         type == SubjectKind::kIp;
}

bool MayBeLookedAt(SubjectKind type) {
  return type != SubjectKind::kPerson && type != SubjectKind::kPhone;
}

namespace {

using base::Json;

constexpr std::array<std::string_view, 3> kKindNames = {"entity", "attribute", "relation"};

Json FindingJson(const Finding& finding) {
  Json json{{"kind", FindingKindName(finding.kind)},
            {"subject", SubjectJson(finding.subject)},
            {"predicate", finding.predicate},
            {"evidence", base::CutCharacters(finding.evidence, kEvidenceCharsMax)},
            {"sources", finding.sources},
            {"provider", finding.provider}};
  if (finding.object)
    json["object"] = {{"type", finding.object->type}, {"value", finding.object->value}};
  if (finding.confidence) json["confidence"] = *finding.confidence;
  Json derived = Json::array();
  for (const base::Uuid& id : finding.derived_from) derived.push_back(id.ToString());
  json["derived_from"] = std::move(derived);
  if (finding.is_expandable) json["expandable"] = *finding.is_expandable;
  return json;
}

Finding FindingOf(const Json& json) {
  Finding finding;
  const auto kind = FindIn<FindingKind>(kKindNames, json.at("kind").get<std::string>());
  if (!kind) throw std::invalid_argument("a finding is of no known kind");
  finding.kind = *kind;
  finding.subject = SubjectOf(json.at("subject"));
  finding.predicate = json.at("predicate").get<std::string>();
  finding.evidence = json.at("evidence").get<std::string>();
  finding.sources = json.at("sources").get<std::vector<std::string>>();
  finding.provider = json.at("provider").get<std::string>();
  if (json.contains("object")) {
    finding.object = FindingObject{json["object"].at("type").get<std::string>(),
                                   json["object"].at("value").get<std::string>()};
  }
  if (json.contains("confidence")) finding.confidence = json["confidence"].get<double>();
  for (const Json& id : json.at("derived_from")) {
    const auto read = base::Uuid::Parse(id.get<std::string>());
    if (!read) throw std::invalid_argument("a finding is derived from no id");
    finding.derived_from.push_back(*read);
  }
  if (json.contains("expandable")) finding.is_expandable = json["expandable"].get<bool>();
  return finding;
}

}  // namespace

std::string_view FindingKindName(FindingKind kind) {
  return NameIn(kKindNames, kind);
}

base::Uuid FindingId(const base::Uuid& investigation_id, const Finding& finding) {
  const std::string object =
      finding.object ? finding.object->type + ":" + finding.object->value : std::string();
  return base::Uuid::V5(investigation_id,
                        fmt::format("{}|{}:{}|{}|{}", FindingKindName(finding.kind),
                                    SubjectKindName(finding.subject.type), finding.subject.value,
                                    finding.predicate, object));
}

std::vector<Finding> RelationTo(const base::Uuid& investigation_id, const Subject& from,
                                std::string_view predicate, const Subject& to, Finding what) {
  Finding relation = std::move(what);
  relation.kind = FindingKind::kRelation;
  relation.subject = from;
  relation.predicate = predicate;
  relation.object = FindingObject{std::string(SubjectKindName(to.type)), to.value};
  Finding entity = relation;
  entity.kind = FindingKind::kEntity;
  entity.subject = to;
  entity.predicate = "found";
  entity.object.reset();
  entity.derived_from = {FindingId(investigation_id, relation)};
  return {std::move(relation), std::move(entity)};
}

std::string WriteFindings(const std::vector<Finding>& findings) {
  std::string list;
  for (std::size_t i = 0; i < std::min(findings.size(), kFindingsOfSubjectMax); ++i) {
    const std::string text = base::DumpJson(FindingJson(findings[i]));
    if (list.size() + text.size() > kFindingsBytesMax) break;
    list += (list.empty() ? "" : ",") + text;
  }
  return "{\"findings\":[" + list + "]}";
}

std::vector<Finding> ReadFindings(std::string_view cell) {
  const Json json = base::ParseJsonOrThrow(cell);
  std::vector<Finding> findings;
  try {
    for (const Json& finding : json.at("findings")) findings.push_back(FindingOf(finding));
  } catch (const Json::exception&) {
    throw std::invalid_argument("these are no findings");
  }
  return findings;
}

}  // namespace vedette::domain
