#include "html/structured_data.h"

#include <algorithm>
#include <initializer_list>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/json.h"
#include "base/text.h"
#include "domain/email/address.h"

namespace vedette::html {
namespace {

constexpr std::size_t kTextsBytesMax = 4 << 20;
constexpr std::size_t kTextBytesMax = 4096;
constexpr int kJsonDepthMax = 16;
constexpr base::JsonLimits kJsonLimits{.values_max = 50'000};

bool IsType(const base::Json& type, std::string_view wanted) {
  if (type.is_string()) {
    const std::string_view name = type.get_ref<const std::string&>();
    return name == wanted || (name.ends_with(wanted) && name.size() > wanted.size() &&
                              name[name.size() - wanted.size() - 1] == '/');
  }
  return type.is_array() && std::any_of(type.begin(), type.end(),
                                        [&](const auto& one) { return IsType(one, wanted); });
}

bool HasType(const base::Json& node, std::string_view wanted) {
  const auto type = node.find("@type");
  return type != node.end() && IsType(*type, wanted);
}

// The text of a member, of its first element, or of its name.
std::string TextOf(const base::Json& node, const char* key) {
  const auto it = node.find(key);
  if (it == node.end()) return "";
  const base::Json* value = &*it;
  if (value->is_array() && !value->empty()) value = &value->front();
  if (value->is_object()) {
    const auto name = value->find("name");
    if (name == value->end()) return "";
    value = &*name;
  }
  if (!value->is_string()) return "";
  return base::FoldSpace(base::CutBytes(value->get_ref<const std::string&>(), kTextBytesMax));
}

void AddLinks(const base::Json& node, const char* key, std::vector<std::string>* links) {
  const auto it = node.find(key);
  if (it == node.end()) return;
  const auto add = [&](const base::Json& link) {
    if (link.is_string() && links->size() < kPersonLinksMax) {
      links->push_back(link.get<std::string>());
    }
  };
  if (!it->is_array()) return add(*it);
  for (const base::Json& link : *it) add(link);
}

// The address of a text that may be a link with mailto:; empty where it is none.
std::string AddressOf(std::string_view text) {
  constexpr std::string_view kMailto = "mailto:";
  text = base::Trim(text);
  if (base::EqualsIgnoringAsciiCase(text.substr(0, kMailto.size()), kMailto)) {
    text = text.substr(kMailto.size());
    text = text.substr(0, text.find('?'));
  }
  const auto address = domain::ParseAddress(text);
  return address ? address->Text() : std::string();
}

PagePerson ReadPerson(const base::Json& node) {
  PagePerson person{TextOf(node, "name"), AddressOf(TextOf(node, "email"))};
  if (person.name.empty()) {
    person.name = base::FoldSpace(TextOf(node, "givenName") + ' ' + TextOf(node, "familyName"));
  }
  person.title = TextOf(node, "jobTitle");
  person.company = TextOf(node, "worksFor");
  person.birth = TextOf(node, "birthDate");
  person.death = TextOf(node, "deathDate");
  AddLinks(node, "url", &person.links);
  AddLinks(node, "sameAs", &person.links);
  return person;
}

void AddPersons(const base::Json& node, int depth, std::vector<PagePerson>* out) {
  if (depth > kJsonDepthMax || out->size() >= kPagePersonsMax || !node.is_structured()) return;
  if (node.is_object() && HasType(node, "Person")) {
    PagePerson person = ReadPerson(node);
    if (!person.name.empty()) out->push_back(std::move(person));
  }
  for (const auto& [key, value] : node.items()) AddPersons(value, depth + 1, out);
}

std::vector<base::Json> JsonLdOf(const HtmlDocument& page, ExtractionStop& stop) {
  const HtmlMatches scripts = page.Every({"//script[@type='application/ld+json']"}, false, "", stop,
                                         TextView::kWhole, kTextsBytesMax);
  std::vector<base::Json> values;
  for (const std::string& script : scripts.texts) {
    base::Json value;
    if (!base::ParseJson(script, &value, kJsonLimits)) values.push_back(std::move(value));
  }
  return values;
}

// How a vocabulary marks people in the page's own elements: an expression for them, and conditions
// of the elements that hold their properties.
struct Marking {
  PagePerson::Source source;
  std::string person;
  std::string name;
  std::string email;
  std::string title;
  std::string company;
  std::string birth;
  std::string death;
  std::string link;
};

std::string HasClass(std::string_view name) {
  return fmt::format("contains(concat(' ', normalize-space(@class), ' '), ' {} ')", name);
}

std::string HasEither(std::string_view one, std::string_view other) {
  return fmt::format("({} or {})", HasClass(one), HasClass(other));
}

constexpr std::string_view kIsItem = "@itemscope and contains(@itemtype, 'schema.org/Person')";

// A property belongs to the nearest item around it.
std::string IsProperty(std::string_view name) {
  return fmt::format(
      "contains(concat(' ', @itemprop, ' '), ' {} ') and ancestor::*[@itemscope][1][{}]", name,
      kIsItem);
}

// The innermost of people inside each other counts.
std::string Innermost(std::string_view condition) {
  return fmt::format("//*[{0} and not(.//*[{0}])]", condition);
}

const std::vector<Marking>& Markings() {
  static const std::vector<Marking> kMarkings{
      {PagePerson::Source::kMicrodata, Innermost(kIsItem), IsProperty("name"), IsProperty("email"),
       IsProperty("jobTitle"), IsProperty("worksFor"), IsProperty("birthDate"),
       IsProperty("deathDate"), IsProperty("sameAs")},
      {PagePerson::Source::kHCard, Innermost(HasEither("vcard", "h-card")),
       HasEither("fn", "p-name"), HasEither("email", "u-email"), HasEither("title", "p-job-title"),
       HasEither("org", "p-org"), HasEither("bday", "dt-bday"), HasClass("dt-deathdate"),
       HasClass("u-url")},
  };
  return kMarkings;
}

// The properties of one marked person.
class MarkedPerson {
 public:
  // `number`: from 1, among those of the marking.
  MarkedPerson(const HtmlDocument& page, const Marking& marking, std::size_t number,
               ExtractionStop& stop)
      : page_(page), within_(fmt::format("({})[{}]", marking.person, number)), stop_(stop) {}

  // The first of these attributes that the element has, else its text.
  std::string Value(const std::string& property,
                    std::initializer_list<const char*> attributes) const {
    const std::string expression = fmt::format("{}//*[{}]", within_, property);
    for (const char* attribute : attributes) {
      std::string value = Of(page_.First({expression}, false, attribute, stop_));
      if (!value.empty()) return value;
    }
    return Of(page_.First({expression}, false, "", stop_, TextView::kVisible));
  }

 private:
  static std::string Of(const HtmlFinding& finding) {
    const bool is_text = finding.kind == HtmlFinding::Kind::kFound && finding.value.is_string();
    if (!is_text) return "";
    return std::string(base::CutBytes(finding.value.get_ref<const std::string&>(), kTextBytesMax));
  }

  const HtmlDocument& page_;
  const std::string within_;
  ExtractionStop& stop_;
};

void AddMarked(const HtmlDocument& page, const Marking& marking, ExtractionStop& stop,
               std::vector<PagePerson>* out) {
  const std::size_t count =
      page.Every({marking.person}, false, "", stop, TextView::kWhole, kTextBytesMax).count;
  for (std::size_t i = 1; i <= std::min(count, kMarkedPersonsMax); ++i) {
    if (stop.stopped() || out->size() >= kPagePersonsMax) return;
    const MarkedPerson marked(page, marking, i, stop);
    PagePerson person{marked.Value(marking.name, {"content"}),
                      AddressOf(marked.Value(marking.email, {"href", "content"})), marking.source};
    if (person.name.empty()) continue;
    person.title = marked.Value(marking.title, {"content"});
    person.company = marked.Value(marking.company, {"content"});
    person.birth = marked.Value(marking.birth, {"datetime", "content", "title"});
    person.death = marked.Value(marking.death, {"datetime", "content", "title"});
    std::string link = marked.Value(marking.link, {"href", "content"});
    if (!link.empty()) person.links.push_back(std::move(link));
    out->push_back(std::move(person));
  }
}

std::string FindPublished(const base::Json& node, int depth) {
  if (depth > kJsonDepthMax || !node.is_structured()) return "";
  if (node.is_object()) {
    std::string date = TextOf(node, "datePublished");
    if (!date.empty()) return date;
  }
  for (const auto& [key, value] : node.items()) {
    std::string date = FindPublished(value, depth + 1);
    if (!date.empty()) return date;
  }
  return "";
}

}  // namespace

std::vector<PagePerson> PersonsOnPage(const HtmlDocument& page, ExtractionStop& stop) {
  std::vector<PagePerson> persons;
  for (const base::Json& value : JsonLdOf(page, stop)) AddPersons(value, 0, &persons);
  for (const Marking& marking : Markings()) AddMarked(page, marking, stop, &persons);
  return persons;
}

std::string PublishedOn(const HtmlDocument& page, ExtractionStop& stop) {
  const HtmlMatches stated =
      page.Every({"//meta[@property='article:published_time' or @itemprop='datePublished']"}, false,
                 "content", stop, TextView::kWhole, kTextBytesMax);
  if (!stated.texts.empty()) return stated.texts.front();
  for (const base::Json& value : JsonLdOf(page, stop)) {
    std::string date = FindPublished(value, 0);
    if (!date.empty()) return date;
  }
  return "";
}

namespace {

// The depth that kJsonDepthMax allows other pages; the blocks are one level deeper.
constexpr int kDepthMax = 64;
constexpr int kMembersMax = 100'000;

constexpr const char* kBlocks =
    "//script[starts-with(normalize-space(translate(@type, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', "
    "'abcdefghijklmnopqrstuvwxyz')), 'application/ld+json')]";

std::size_t ValuesOf(const base::Json& json) {
  std::size_t values = 1;
  if (!json.is_structured()) return values;
  for (const base::Json& value : json) values += ValuesOf(value);
  return values;
}

bool IsOfType(const base::Json& said, const std::string& type) {
  if (said.is_array()) {
    return std::any_of(said.begin(), said.end(), [&](const base::Json& one) {
      return one.is_string() && IsOfType(one, type);
    });
  }
  if (!said.is_string()) return false;
  const auto& name = said.get_ref<const std::string&>();
  if (!name.ends_with(type)) return false;
  if (name.size() == type.size()) return true;
  const char before = name[name.size() - type.size() - 1];
  return before == '/' || before == '#' || before == ':';
}

void AddNodes(const base::Json& from, const std::string& type,
              std::vector<const base::Json*>* nodes) {
  if (nodes->size() == kLinkedDataNodesMax) return;
  if (from.is_object()) {
    const auto said = from.find("@type");
    if (said != from.end() && IsOfType(*said, type)) nodes->push_back(&from);
  }
  if (!from.is_structured()) return;
  for (const base::Json& value : from) AddNodes(value, type, nodes);
}

}  // namespace

LinkedData ReadLinkedData(PageForms& page, ExtractionStop& stop) {
  LinkedData out;
  if (page.IsJson()) {
    const base::Json* json = page.Json();
    if (json != nullptr) out.blocks.push_back(*json);
    out.fault = page.json_error();
    return out;
  }
  const HtmlDocument* document = page.Html();
  if (document == nullptr) return out;
  const HtmlMatches scripts =
      document->Every({kBlocks}, false, "", stop, TextView::kWhole, kLinkedDataBytesMax);
  std::size_t values_left = kLinkedDataValuesMax;
  for (const std::string& text : scripts.texts) {
    base::Json block;
    if (auto error = base::ParseJson(text, &block, {kDepthMax, kMembersMax, values_left})) {
      out.fault = std::move(error->message);
      continue;
    }
    values_left -= std::min(values_left, ValuesOf(block));
    out.blocks.push_back(std::move(block));
  }
  if (scripts.texts.size() < scripts.count) {
    out.fault = fmt::format("the blocks are longer than {} bytes", kLinkedDataBytesMax);
  }
  return out;
}

std::vector<const base::Json*> NodesOfType(const base::Json& blocks, const std::string& type) {
  std::vector<const base::Json*> nodes;
  if (type.empty()) {
    for (const base::Json& block : blocks) nodes.push_back(&block);
  } else {
    AddNodes(blocks, type, &nodes);
  }
  return nodes;
}

}  // namespace vedette::html
