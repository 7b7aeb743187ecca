#include "worker/providers/reverse_reading.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <variant>

#include "base/text.h"
#include "domain/email/address_pattern.h"
#include "domain/email/name_words.h"
#include "domain/email/person_name.h"
#include "domain/people/mailbox.h"
#include "domain/people/people_answer.h"
#include "domain/people/stated_name.h"
#include "worker/providers/website_provider.h"

namespace vedette::worker {
namespace {

using domain::PersonFound;

bool IsAddress(const std::string& text, const std::string& key) {
  const auto address = domain::ParseAddress(text);
  return address && domain::MailboxKey(*address) == key;
}

bool IsLinkedIn(std::string_view url) {
  return url.find("linkedin.com/in/") != std::string_view::npos;
}

std::string Field(const std::string& text) {
  return base::CutCharacters(domain::CleanName(text), domain::kPersonFieldCharactersMax);
}

PersonFound PersonOfNode(const pages::PagePerson& node, const std::string& name,
                         const std::string& url) {
  PersonFound person;
  person.name = name;
  person.confidence =
      node.source == pages::PagePerson::Source::kHCard ? kHCardConfidence : kNodeConfidence;
  person.title = Field(node.title);
  person.company = Field(node.company);
  for (const std::string& link : node.links) {
    if (!base::HasWebScheme(link) || person.profiles.size() == domain::kPersonUrlsMax) continue;
    if (person.linkedin.empty() && IsLinkedIn(link)) person.linkedin = link;
    person.profiles.push_back(link);
  }
  person.evidence =
      base::CutCharacters(node.name + ", " + node.email, domain::kPersonEvidenceCharactersMax);
  person.sources = {url};
  return person;
}

// A name that a source gives becomes a candidate, once.
void AddCandidate(domain::NameCandidate candidate, PersonFound* person) {
  const auto is_same = [&](const domain::NameCandidate& other) {
    return domain::IsSameName(other.name, candidate.name);
  };
  auto& all = person->candidates;
  if (all.size() == domain::kPersonCandidatesMax) return;
  if (std::none_of(all.begin(), all.end(), is_same)) all.push_back(std::move(candidate));
}

void AddCandidate(const PersonFound& named, int confidence, PersonFound* person) {
  AddCandidate({named.name, confidence, std::string(WebsiteProvider::kId), named.evidence}, person);
}

// Those of different people are candidates.
PersonFound OneOf(const std::vector<PersonFound>& found) {
  const auto is_same = [&](const PersonFound& other) {
    return domain::IsSameName(other.name, found.front().name);
  };
  if (std::all_of(found.begin(), found.end(), is_same)) {
    return *std::max_element(found.begin(), found.end(), [](const auto& a, const auto& b) {
      return a.confidence < b.confidence;
    });
  }
  PersonFound person;
  for (const PersonFound& one : found) AddCandidate(one, kBesideConfidence, &person);
  return person;
}

// Whether the local part is made of the name, and the name is not the company's: blue.ridge@ at
// blueridge.example is nobody's.
bool TellsName(const domain::Address& address, const std::string& name) {
  std::string joined = domain::FoldName(name);
  std::erase(joined, ' ');
  std::string labels = domain::FoldName(address.domain);
  std::erase(labels, ' ');
  if (labels.find(joined) != std::string::npos) return false;
  domain::Person person;
  person.name = name;
  const auto names = domain::RenderName(person, address.domain);
  const auto* renderings = std::get_if<std::vector<domain::NameRendering>>(&names);
  return renderings != nullptr && domain::PatternOf(address.local, *renderings).has_value();
}

std::vector<std::string> NamesOf(const pages::PageCard& card) {
  std::vector<std::string> names;
  for (const std::string& part : card.parts) {
    std::string name = domain::StatedName(part);
    const auto is_same = [&](const std::string& other) { return domain::IsSameName(other, name); };
    if (name.empty() || std::any_of(names.begin(), names.end(), is_same)) continue;
    names.push_back(std::move(name));
  }
  return names;
}

std::string TextOf(const pages::PageCard& card) {
  std::string text;
  for (const std::string& part : card.parts) text += (text.empty() ? "" : " | ") + part;
  return base::CutCharacters(text, domain::kPersonEvidenceCharactersMax);
}

PersonFound PersonOfCard(const domain::Address& address, const std::string& url,
                         const pages::PageCard& card, const std::vector<std::string>& names) {
  PersonFound person;
  if (card.addresses.size() > 1) return person;
  PersonFound named;
  named.evidence = TextOf(card);
  if (names.size() == 1 && TellsName(address, names.front())) {
    named.name = names.front();
    named.confidence = kBlockConfidence;
    named.sources = {url};
    return named;
  }
  for (const std::string& name : names) {
    named.name = name;
    AddCandidate(named, kBesideConfidence, &person);
  }
  return person;
}

}  // namespace

PersonFound PersonBehind(const domain::Address& address, const std::string& url,
                         const std::vector<pages::PagePerson>& persons,
                         const std::vector<pages::PageCard>& cards) {
  const std::string key = domain::MailboxKey(address);
  std::vector<PersonFound> stated;
  for (const pages::PagePerson& node : persons) {
    if (!IsAddress(node.email, key)) continue;
    const std::string name = domain::StatedName(node.name);
    if (!name.empty()) stated.push_back(PersonOfNode(node, name, url));
  }
  if (!stated.empty()) return OneOf(stated);
  for (const pages::PageCard& card : cards) {
    const auto& has = card.addresses;
    const bool is_about = std::any_of(
        has.begin(), has.end(), [&](const std::string& text) { return IsAddress(text, key); });
    if (!is_about) continue;
    const std::vector<std::string> names = NamesOf(card);
    if (!names.empty() || has.size() > 1) return PersonOfCard(address, url, card, names);
  }
  return {};
}

void AddPageOfPerson(const PersonFound& page, PersonFound* person) {
  if (person->name.empty() && !page.name.empty()) {
    std::vector<domain::NameCandidate> candidates = std::move(person->candidates);
    *person = page;
    for (auto& candidate : candidates) AddCandidate(std::move(candidate), person);
    return;
  }
  for (const domain::NameCandidate& candidate : page.candidates) AddCandidate(candidate, person);
}

}  // namespace vedette::worker
