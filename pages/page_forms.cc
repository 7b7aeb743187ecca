#include "pages/page_forms.h"

#include <utility>
#include <variant>

#include "base/text.h"

namespace vedette::pages {
namespace {

constexpr int kJsonDepthMax = 64;
constexpr int kJsonMembersMax = 100'000;
// In all of a page: about 50 MB of memory.
constexpr std::size_t kJsonValuesMax = 500'000;

}  // namespace

PageForms::PageForms(const FetchedPage& page)
    : type_(ParseMediaType(page.content_type)), text_(DecodeBody(page.body, type_.charset)) {}

bool PageForms::IsJson() const {
  const std::string& type = type_.type;
  return type == "application/json" || type == "text/json" || type.ends_with("+json");
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
  auto parsed = HtmlDocument::Parse(text_);
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
    if (auto error =
            base::ParseJson(text_, &parsed, {kJsonDepthMax, kJsonMembersMax, kJsonValuesMax})) {
      json_error_ = std::move(error->message);
    } else {
      json_ = std::move(parsed);
    }
  }
  return json_ ? &*json_ : nullptr;
}

std::optional<std::string> PageForms::VisibleText() {
  if (IsJson() || type_.type == "text/plain") return base::FoldSpace(text_);
  const HtmlDocument* document = Html();
  if (document == nullptr) return std::nullopt;
  return document->VisibleText();
}

}  // namespace vedette::pages
