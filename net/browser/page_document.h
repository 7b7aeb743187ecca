#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "net/http_client.h"

namespace vedette::net {

// How many redirects of a page are followed, by those who fetch it and by the browser.
inline constexpr int kRedirectsMax = 5;

// Whether scripts of a document of this type run, and its elements can be read.
bool IsHtml(std::string_view mime_type);

// One document of a page's main frame, or what the frame has been sent for.
struct PageDocument {
  enum class Progress { kNone, kAnswered, kLoaded };
  Progress progress = Progress::kNone;
  bool shown = false;   // the frame shows it
  std::string request;  // its id, which is its loader's, too
  std::string url;
  std::string mime_type;  // as the browser takes it
  HttpResponse response;  // without its body
  int redirects = 0;      // of servers
};

// Follows what the main frame shows, by the browser's events.
//
//   asked for ── redirects ──▶ answered ──▶ shown ──▶ loaded
//       └──────────────────────────┴── is no page (a download, a 204, mailto:) ──▶ what was shown
//
// Loop thread only.
class MainFrame {
 public:
  // The present document: what is shown, or what is to come in its place. A PDF counts as a page,
  // although a browser without a viewer only downloads it.
  const PageDocument& now() const { return now_; }
  // What was asked for last, where the browser would not show it. Null: it does.
  const PageDocument* refused() const { return refused_ ? &*refused_ : nullptr; }

  // The frame asks for a document; `redirect`: in the place of an answer to the same request.
  void OnRequest(std::string id, std::string url, std::optional<HttpResponse> redirect);
  void OnResponse(std::string url, std::string mime_type, HttpResponse response);  // to now()
  // A request was given up: nothing was to be shown of it, or the page asked for something else.
  void OnAborted(std::string_view request);
  void OnShown();   // now() is
  void OnLoaded();  // what is shown is
  void OnStopped();
  // What is still to come does not count any more.
  void Settle();

 private:
  PageDocument now_;
  std::optional<PageDocument> before_;  // shown until `now_` is
  std::optional<PageDocument> refused_;
};

}  // namespace vedette::net
