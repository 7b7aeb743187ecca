#include "pages/login_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "base/text.h"
#include "net/url.h"

namespace vedette::pages {
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
                      [](const auto& field) { return field.second.value.is_null(); });
}

}  // namespace

bool AsksForPassword(PageForms* forms, ExtractionStop& stop) {
  if (forms->IsJson() || forms->IsXml()) return false;
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

}  // namespace vedette::pages
