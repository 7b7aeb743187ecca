#include "domain/investigation/subject.h"

#include <array>
#include <stdexcept>

#include "base/json.h"
#include "base/text.h"
#include "domain/email/address.h"
#include "domain/name_table.h"

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

// Digits and dots, or hexadecimal digits and colons; the code that asks the network decides whether
// it is one.
bool LooksLikeAddress(std::string_view text) {
  const bool v6 = text.find(':') != std::string_view::npos;
  for (const char c : text) {
    const bool hex =
        base::IsAsciiDigit(c) || (v6 && ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F')));
    if (!hex && c != '.' && !(v6 && c == ':')) return false;
  }
  return v6 || text.find('.') != std::string_view::npos;
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
      text = base::AsciiLower(text);
      if (!ParseAddress(text)) return "should be an address of email";
      break;
    }
    case SubjectKind::kDomain: {
      const auto domain = ParseDomain(text);
      if (!domain) return "should be a domain";
      text = *domain;
      break;
    }
    case SubjectKind::kUrl:
      if (!IsWebAddress(text)) return "should begin with http:// or https://";
      break;
    case SubjectKind::kIp:
      if (!LooksLikeAddress(text)) return "should be an IP address";
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

}  // namespace vedette::domain
