#include "html/page_reading.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/compression.h"
#include "base/crypto.h"
#include "base/json.h"
#include "base/text.h"
#include "net/url.h"

namespace vedette::html {
namespace {

// The memory of the containers of one field, about, beside what they hold.
constexpr std::size_t kFieldOverheadBytes = 256;

}  // namespace

std::size_t BytesOf(const PageReading& reading) {
  std::size_t bytes = sizeof(PageReading) + reading.url.size();
  if (reading.text) bytes += reading.text->url.size() + reading.text->text.size();
  if (const auto* observation = std::get_if<domain::Observation>(&reading.result)) {
    for (const auto& [name, field] : observation->fields) {
      bytes += kFieldOverheadBytes + name.size() + field.evidence.size();
      const base::Json& value = field.value.Value();
      if (value.is_string()) bytes += value.get_ref<const std::string&>().size();
      for (const std::string& source : field.sources) bytes += source.size();
    }
    if (const auto& page = observation->page) {
      bytes += sizeof(domain::SeenPage) + page->url.size() + page->text.size();
    }
    for (const auto& [name, failure] : observation->unread) {
      bytes += kFieldOverheadBytes + name.size() + failure.message.size();
    }
  }
  return bytes;
}

namespace {

// Walls are small and say early what they are.
constexpr std::size_t kSearchedBytes = 16384;

// All marks of one line together make a wall; each alone may stand on an ordinary page.
using Marks = std::array<std::string_view, 2>;
constexpr std::array<Marks, 7> kMarks{{
    {"<title>just a moment...</title>", "/cdn-cgi/challenge-platform/"},
    {"<title>just a moment...</title>", "cf-browser-verification"},
    {"<title>attention required! | cloudflare</title>", "cf-error-details"},
    {"_incapsula_resource", "incapsula incident id"},
    {"<title>pardon our interruption</title>", "distil"},
    {"<title>access denied</title>", "errors.edgesuite.net"},
    {"px-captcha", "window._pxappid"},
}};

}  // namespace

bool IsChallengePage(const net::HttpResponse& response) {
  if (response.Header("cf-mitigated").value_or("") == "challenge") return true;
  const std::string beginning =
      base::AsciiLower(std::string_view(response.body).substr(0, kSearchedBytes));
  return std::any_of(kMarks.begin(), kMarks.end(), [&](const Marks& marks) {
    return std::all_of(marks.begin(), marks.end(), [&](std::string_view mark) {
      return beginning.find(mark) != std::string::npos;
    });
  });
}

namespace {

// HTML does not tell the case of a type.
constexpr const char* kPasswordField = "//input[translate(@type, 'PASWORD', 'pasword')='password']";

constexpr std::array<std::string_view, 8> kLoginWords{"login",  "log-in",  "log_in",  "logon",
                                                      "signin", "sign-in", "sign_in", "sso"};

constexpr std::size_t kShownCharactersMax = 200;

// The place of a page: "www." and a last slash tell no page from another.
struct Place {
  std::string host;
  std::string path;

  bool operator==(const Place&) const = default;
};

Place PlaceOf(std::string_view url) {
  net::UrlParts parts;
  std::string error;
  if (!net::SplitUrl(url, &parts, &error)) return {};
  Place place{base::AsciiLower(parts.host),
              std::string(parts.rest.substr(0, parts.rest.find('?')))};
  if (place.host.starts_with("www.")) place.host.erase(0, std::string_view("www.").size());
  while (place.path.ends_with('/')) place.path.pop_back();
  return place;
}

// Whether a segment of the path, without what follows a dot in it, is a word for a login.
bool SaysLogin(std::string_view path) {
  while (!path.empty()) {
    const std::size_t end = std::min(path.find('/'), path.size());
    const std::string_view segment = path.substr(0, end);
    const std::string word = base::AsciiLower(segment.substr(0, segment.find('.')));
    if (std::find(kLoginWords.begin(), kLoginWords.end(), word) != kLoginWords.end()) return true;
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return false;
}

bool FoundAll(const domain::ObservationResult& result) {
  const auto* seen = std::get_if<domain::Observation>(&result);
  return seen != nullptr && seen->unread.empty() &&
         std::none_of(seen->fields.begin(), seen->fields.end(),
                      [](const auto& field) { return field.second.value.Value().is_null(); });
}

}  // namespace

bool AsksForPassword(PageForms* forms, ExtractionStop& stop) {
  if (!forms->IsHtml()) return false;
  // Most pages have no such word, and are not searched.
  const std::string& text = forms->text();
  if (text.find("assword") == std::string::npos && text.find("ASSWORD") == std::string::npos) {
    return false;
  }
  const HtmlDocument* document = forms->Html();
  return document != nullptr &&
         document->First({kPasswordField}, false, "", stop).kind == HtmlFinding::Kind::kFound;
}

bool LeadsToLogin(std::string_view asked, const PageReading& reading) {
  const Place from = PlaceOf(asked);
  const Place to = PlaceOf(reading.url);
  if (from == to || SaysLogin(from.path)) return false;
  return SaysLogin(to.path) || (reading.asks_for_password && !FoundAll(reading.result));
}

domain::Failure LoginRequired(const PageReading& reading) {
  const std::string url =
      base::RepairUtf8(std::string_view(reading.url).substr(0, reading.url.find('?')));
  return {"login_required",
          fmt::format("The page led to {}, which asks for a login. A monitor's request_headers can "
                      "hold what logs in.",
                      base::CutCharacters(url, kShownCharactersMax)),
          false,
          {}};
}

namespace {

// Scripts that run, and not data in their place.
constexpr const char* kScripts =
    "//script[not(@type) or @type='' or @type='module' or contains(@type, 'javascript')]";
// A page that sends a browser on to another one, as scripts do.
constexpr const char* kSendsOn =
    "//meta[translate(@http-equiv, 'REFSH', 'refsh') = 'refresh' and "
    "contains(translate(@content, 'URL', 'url'), 'url')]";

bool HasAny(PageForms* forms, std::vector<std::string> expressions, ExtractionStop& stop) {
  const HtmlDocument* document = forms->Html();
  return document != nullptr &&
         document->First(expressions, false, "", stop).kind == HtmlFinding::Kind::kFound;
}

}  // namespace

bool MayShowMore(PageForms* forms, ExtractionStop& stop) {
  return forms->IsHtml() && HasAny(forms, {kScripts, kSendsOn}, stop);
}

bool IsMadeByScripts(PageForms* forms, ExtractionStop& stop) {
  if (!forms->IsHtml()) return false;
  const HtmlDocument* document = forms->Html();
  return document != nullptr && document->VisibleText().empty() && HasAny(forms, {kScripts}, stop);
}

domain::Failure MadeByScripts(const std::string& field) {
  return {"made_by_scripts",
          fmt::format("The page shows nothing until its scripts have run, and they are not run "
                      "here, so that the field '{}' cannot be read. Where its scripts fetch data "
                      "in JSON, that address can be watched with json:.",
                      field),
          false,
          {}};
}

namespace {

constexpr int kJsonIndent = 2;

std::optional<std::string> TextOf(PageForms* forms) {
  if (!forms->IsJson()) return forms->VisibleText(TextView::kMarkdown);
  const base::Json* json = forms->Json();
  if (json == nullptr) return forms->VisibleText(TextView::kLines);
  return json->dump(kJsonIndent, ' ', false, base::Json::error_handler_t::replace);
}

}  // namespace

std::shared_ptr<const domain::SeenPage> SeenPageOf(PageForms* forms, const std::string& url) {
  const std::optional<std::string> text = TextOf(forms);
  if (!text) return nullptr;
  const std::string_view kept = base::CutBytes(*text, domain::kSnapshotTextBytesMax);
  domain::SeenPage page;
  page.url = url;
  page.text = base::Compressed(kept);
  page.text_hash = base::Sha256(kept);
  page.text_bytes = static_cast<int>(text->size());
  return std::make_shared<const domain::SeenPage>(std::move(page));
}

}  // namespace vedette::html
