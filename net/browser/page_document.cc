#include "net/browser/page_document.h"

#include <utility>

namespace vedette::net {
namespace {

using Progress = PageDocument::Progress;

constexpr std::string_view kPdf = "application/pdf";

}  // namespace

bool IsHtml(std::string_view mime_type) {
  return mime_type == "text/html" || mime_type == "application/xhtml+xml";
}

void MainFrame::OnRequest(std::string id, std::string url, std::optional<HttpResponse> redirect) {
  if (redirect && id == now_.request) {
    ++now_.redirects;
    now_.response = *std::move(redirect);
  } else {
    refused_.reset();
    if (now_.shown) before_ = std::move(now_);
    now_ = {};
    now_.request = std::move(id);
  }
  now_.url = std::move(url);
}

void MainFrame::OnResponse(std::string url, std::string mime_type, HttpResponse response) {
  now_.progress = Progress::kAnswered;
  now_.url = std::move(url);
  now_.mime_type = std::move(mime_type);
  now_.response = std::move(response);
}

void MainFrame::OnAborted(std::string_view request) {
  if (now_.shown || request != now_.request) return;
  refused_ = now_;
  if (before_ && now_.mime_type == kPdf) {
    now_.shown = true;
    now_.progress = Progress::kLoaded;
    before_.reset();
  }
  Settle();
}

void MainFrame::OnShown() {
  now_.shown = true;
  before_.reset();
}

void MainFrame::OnLoaded() {
  PageDocument& loaded = before_ ? *before_ : now_;
  if (loaded.progress == Progress::kAnswered) loaded.progress = Progress::kLoaded;
}

// A document that sends the frame elsewhere before it is whole is never said to be loaded.
void MainFrame::OnStopped() {
  if (now_.shown && now_.progress == Progress::kAnswered) now_.progress = Progress::kLoaded;
}

void MainFrame::Settle() {
  if (before_) now_ = *std::exchange(before_, std::nullopt);
}

}  // namespace vedette::net
