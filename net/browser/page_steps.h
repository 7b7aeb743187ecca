#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/event_loop.h"
#include "base/json_text.h"
#include "domain/monitor/page_steps.h"
#include "net/browser/browser_process.h"

namespace vedette::net {

// Acts on a page as a person does, step by step: with the mouse and the keyboard, so that what the
// page does about them happens. What a step acts on is looked for in a world of scripts apart from
// the page's own, in its main document, open shadow roots and frames of the same origin.
//
//   loads, settles ── quiet, or not for 5 s ──▶ asks its `if` ──▶ looks ── it is there ──▶ acts
//      ▲                                          ▲   └─ does not match ──▶ the next one     │
//      └── behind what may change the page ───────┴────────────── the next one ◀─────────────┘
//
// A step whose selector does not come to match something that a person could use within 10 s fails.
// A step that scrolls ends at the page's end, or after 10 s. What else a page may take bounds its
// owner. Loop thread only.
class PageSteps {
 public:
  using Answer = BrowserProcess::Answer;
  // What it needs of the page.
  struct Page {
    // Sends a command; `then` is not called any more once the page, or these steps, have ended.
    std::function<void(std::string_view method, base::Json params,
                       std::function<void(const Answer& answer)> then)>
        ask;
    std::string main_frame;
    std::string url;  // the row's page
    std::function<bool()> has_document;
    std::function<void()> wait_for_quiet;  // OnQuiet is to be called when the page is
    // How they end, once.
    std::function<void()> done;
    std::function<void(std::string why)> failed;
    std::function<void(std::string error)> not_reached;  // by a goto: what the browser says of it
  };

  // The steps are not empty, and have the values of their secrets; a goto has its URL.
  PageSteps(base::EventLoop& loop, std::vector<domain::PageStep> steps, Page page);
  ~PageSteps();
  PageSteps(const PageSteps&) = delete;
  PageSteps& operator=(const PageSteps&) = delete;

  void Begin();    // the page is loading
  void OnQuiet();  // it is loaded, and nothing was being fetched for a while
  void Stop();     // nothing is called any more

  // The step that is under way, from 0, and its name for a sentence, as in
  // `probe.steps[2] (click "#go")`; empty while the page is loading.
  int step() const;
  std::string Name() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace vedette::net
