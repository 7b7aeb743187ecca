#pragma once

#include <memory>

#include "base/byte_budget.h"
#include "base/event_loop.h"
#include "base/thread_pool.h"
#include "config/config_fwd.h"
#include "html/page_memory.h"
#include "html/page_reading.h"
#include "html/robots.h"
#include "net/http_client.h"
#include "net/public_address.h"
#include "worker/probes/page_logins.h"
#include "worker/probes/probe.h"

namespace vedette::worker {

// The embedded default: fetches the row's page (`url`, else `website`, else https://`domain`; from
// the subject, then the context) and extracts each field by its description
// (domain/monitor/field_description.h). Fetches on the loop, extracts on `pool`. Follows up to 5
// redirects, each hop validated (G9). Asks only for another version of pages that `memory` holds.
//
// `probe.render` says which pages have their scripts run first, where `renderer` may: none, all,
// or those that show nothing otherwise; these are fetched first, and then rendered. The probe
// remembers which they were (ScriptedPages). A monitor may ask for less (ProbeSpec::options).
// Monitors with headers of their own have nothing rendered. Where a monitor's pages are acted on,
// they are rendered or not read at all.
//
// A page counts in `budget` from its first byte until it has been read. Threads of `pool` are taken
// in turns by organisation; neither the wait for one nor that for a connection counts as time of
// the page. Its failures:
//   no_address, unsupported_description, refused_address, dns, connect, tls, timeout, http_status,
//   blocked, login_required, body_too_large, protocol, bad_selector, bad_content, overloaded,
//   unreadable_headers, unreadable_secrets, step_failed, not_rendered
// `pool` ends before `loop` does: its jobs post to the loop.
class WebProbe final : public Probe {
 public:
  WebProbe(base::EventLoop& loop, net::HttpClient& client, base::ThreadPool& pool,
           const net::AddressPolicy& policy, html::PageMemory& memory, base::ByteBudget& budget,
           const config::ProbeConfig& probe, const config::NetConfig& net,
           html::RobotsCache* robots = nullptr, net::Renderer* renderer = nullptr,
           LoginKeeper* logins = nullptr);
  ~WebProbe() override;  // callbacks of what is under way are dropped
  void Start(ProbeRequest request, std::function<void(ProbeResult)> done) override;

  // The same as Start, and with it the first `text_bytes_max` bytes of what a reader sees of the
  // page.
  void Read(ProbeRequest request, std::size_t text_bytes_max,
            std::function<void(html::PageReading)> done);

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace vedette::worker
