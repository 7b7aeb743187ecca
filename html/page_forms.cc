#include "html/page_forms.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <variant>

#include "base/crypto.h"
#include "base/text.h"

namespace vedette::html {
namespace {

constexpr int kJsonDepthMax = 64;
constexpr int kJsonMembersMax = 100'000;
// In all of a page: about 50 MB of memory.
constexpr std::size_t kJsonValuesMax = 500'000;

// Whether the first element is that of a feed, as browsers tell one that is sent as HTML or text.
bool BeginsAsFeed(std::string_view text) {
  for (;;) {
    text.remove_prefix(std::min(text.find_first_not_of(base::kLineSpace), text.size()));
    const bool comment = text.starts_with("<!--");
    if (!comment && !text.starts_with("<?") && !text.starts_with("<!")) break;
    const std::string_view end = comment ? "-->" : ">";
    const std::size_t at = text.find(end);
    if (at == std::string_view::npos) return false;
    text.remove_prefix(at + end.size());
  }
  for (const std::string_view name : {"<rss", "<feed", "<rdf:RDF"}) {
    if (!text.starts_with(name) || text.size() == name.size()) continue;
    const char after = text[name.size()];
    if (base::IsSpace(after) || after == '>') return true;
  }
  return false;
}

// JSON in which U+FFFD stands for escapes of half a character, and of NUL, which nothing could
// keep.
std::string WithWholeEscapes(std::string text) {
  // The number in the escape \uXXXX at `at`; -1 where none is there.
  const auto number = [&text](std::size_t at) {
    if (at >= text.size() || text.compare(at, 2, "\\u") != 0) return -1;
    const auto bytes = base::HexDecode(std::string_view(text).substr(at + 2, 4));
    if (!bytes || bytes->size() != 2) return -1;
    return static_cast<unsigned char>((*bytes)[0]) * 256 + static_cast<unsigned char>((*bytes)[1]);
  };
  const auto is_low = [](int unit) { return unit >= 0xDC00 && unit <= 0xDFFF; };
  constexpr std::size_t kLength = 6;
  for (auto at = text.find('\\'); at != std::string::npos; at = text.find('\\', at)) {
    const int unit = number(at);
    const bool is_high = unit >= 0xD800 && unit <= 0xDBFF;
    if (unit < 0) {
      at += 2;
    } else if (is_high && is_low(number(at + kLength))) {
      at += 2 * kLength;
    } else {
      if (is_high || is_low(unit) || unit == 0) text.replace(at, kLength, "\\uFFFD");
      at += kLength;
    }
  }
  return text;
}

}  // namespace

PageForms::PageForms(const FetchedPage& page)
    : type_(ParseMediaType(page.content_type)),
      text_(DecodeBody(page.body, type_)),
      of_pdf_(page.of_pdf) {}

bool PageForms::IsJson() const {
  const std::string& type = type_.type;
  return type == "application/json" || type == "text/json" || type.ends_with("+json");
}

bool PageForms::IsXml() const {
  const std::string& type = type_.type;
  if (type == "application/xhtml+xml") return false;
  if (type == "application/xml" || type == "text/xml" || type.ends_with("+xml")) return true;
  return !of_pdf_ && !IsJson() && BeginsAsFeed(text_);
}

bool PageForms::IsPlain() const {
  const std::string& type = type_.type;
  if (type == "text/plain") return true;
  // Those that browsers take for none.
  const bool is_declared = type.find('/') != std::string::npos && type != "*/*" &&
                           type != "unknown/unknown" && type != "application/unknown";
  if (!is_declared || type == "text/html" || type == "application/xhtml+xml") return false;
  return !IsJson() && !IsXml();
}

bool PageForms::IsBinary() const {
  const std::string& type = type_.type;
  for (const std::string_view prefix : {"image/", "audio/", "video/", "font/"}) {
    if (type.starts_with(prefix)) return type != "image/svg+xml";
  }
  return type == "application/pdf" || type == "application/zip" || type == "application/gzip" ||
         type == "application/octet-stream";
}

const HtmlDocument* PageForms::Html() {
  if (html_) return html_->get();
  auto parsed = HtmlDocument::Parse(text_, IsXml() ? Markup::kXml : Markup::kHtml);
  if (auto* error = std::get_if<std::string>(&parsed)) {
    html_error_ = std::move(*error);
    html_.emplace(nullptr);
  } else {
    html_.emplace(std::make_unique<HtmlDocument>(std::move(std::get<HtmlDocument>(parsed))));
  }
  return html_->get();
}

const base::Json* PageForms::Json() {
  if (!json_ && json_error_.empty()) {
    base::Json parsed;
    if (auto error = base::ParseJson(WithWholeEscapes(text_), &parsed,
                                     {kJsonDepthMax, kJsonMembersMax, kJsonValuesMax})) {
      json_error_ = std::move(error->message);
    } else {
      json_ = std::move(parsed);
    }
  }
  return json_ ? &*json_ : nullptr;
}

std::optional<std::string> PageForms::VisibleText(TextView view) {
  if (IsJson() || IsPlain()) {
    return view == TextView::kVisible ? base::FoldSpace(text_) : FoldLines(text_);
  }
  const HtmlDocument* document = Html();
  if (document == nullptr) return std::nullopt;
  return document->VisibleText(view);
}

}  // namespace vedette::html
