#include "worker/rendering/render_server.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>

#include "config/probe_config.h"
#include "worker/rendering/render_message.h"

namespace vedette::worker {
namespace {

using std::chrono::milliseconds;

// Behind the signals.
constexpr milliseconds kServeEvery{1000};

}  // namespace

void RenderShares::Begin(const std::vector<base::Uuid>& org_ids) {
  if (org_ids.empty()) return;
  // The first whose turn it was had used least of all.
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  for (const base::Uuid& org_id : org_ids) {
    const auto it = used_.find(org_id);
    first = std::min(first, it == used_.end() ? least_ : std::max(it->second, least_));
  }
  least_ = first;
  for (const base::Uuid& org_id : org_ids) {
    std::int64_t& used = used_.try_emplace(org_id, least_).first->second;
    used = std::max(used, least_) + kPage.count();
  }
  std::erase_if(used_, [&](const auto& one) { return one.second <= least_; });
}

void RenderShares::End(const base::Uuid& org_id, milliseconds took) {
  const auto it = used_.find(org_id);
  if (it != used_.end()) {
    it->second += took.count() - kPage.count();
  } else if (took > kPage) {
    used_[org_id] = least_ + took.count() - kPage.count();
  }
}

store::RenderTurns RenderShares::Turns() const {
  store::RenderTurns turns{.least = least_, .page = kPage.count()};
  for (const auto& [org_id, used] : used_) {
    turns.org_ids.push_back(org_id);
    turns.used.push_back(used);
  }
  return turns;
}

RenderServer::RenderServer(base::EventLoop& loop, store::Pool& pool, store::Signals& signals,
                           const base::Clock& clock, const config::BrowserConfig& config,
                           const config::SecurityConfig& security, net::Renderer& browser,
                           std::function<std::size_t()> busy, milliseconds drain_timeout,
                           base::Logger log)
    : loop_(loop),
      pool_(pool),
      signals_(signals),
      clock_(clock),
      config_(config),
      security_(security),
      browser_(browser),
      busy_(std::move(busy)),
      log_(log),
      serve_(loop, pool, log, {.failed = "claiming pages to render failed", .poll = kServeEvery},
             {.begin = [this] { return BeginServing(); },
              .finish = [this](Served served) { return OnServed(std::move(served)); }}),
      leases_(loop, pool, log, kRenderLease,
              {.renew = store::RenewRenders,
               .give_back = lease::GiveBackAtOnce(store::GiveBackRenders),
               .lost =
                   [this](const base::Uuid& id) {
                     pages_.erase(id);
                     drain_.Check();
                   },
               .offered = [this] { signals_.Raise(store::Signal::kRender); },
               .given_back = [this] { drain_.Check(); }}),
      drain_(loop, drain_timeout,
             {.idle = [this] { return pages_.empty() && leases_.idle() && !serve_.running(); },
              .overdue =
                  [this] {
                    std::vector<base::Uuid> ids;
                    for (const auto& [id, page] : pages_) ids.push_back(id);
                    pages_.clear();
                    leases_.GiveBack(ids);
                  },
              .abandon = [this] { pages_.clear(); }}) {}

void RenderServer::Start() {
  serve_.Start();
  leases_.Start();
}

std::size_t RenderServer::Room() const {
  std::size_t used = busy_();
  for (const auto& [id, page] : pages_) used += page.stage == Page::Stage::kOffered ? 1 : 0;
  const auto most = static_cast<std::size_t>(config_.pages_max);
  return used < most ? most - used : 0;
}

// Offers that nobody accepts go: who asked is gone.
std::vector<store::Lease> RenderServer::TakeUnaccepted() {
  std::vector<store::Lease> gone;
  const auto now = clock_.SinceBoot();
  for (const auto& [id, page] : pages_) {
    if (page.stage == Page::Stage::kOffered && now - page.since > kRenderOffered) {
      gone.push_back(page.lease);
    }
  }
  for (const store::Lease& offer : gone) Forget(offer.id);
  return gone;
}

// Those whose time is over are closed.
std::vector<store::Lease> RenderServer::OpenPages() {
  const auto now = clock_.SinceBoot();
  std::erase_if(held_,
                [now](const auto& one) { return now - one.second.since > net::kHeldOpenMax; });
  std::vector<store::Lease> open;
  for (const auto& [id, held] : held_) open.push_back(held.lease);
  return open;
}

lease::Step<RenderServer::Served>::Job RenderServer::BeginServing() {
  auto gone = TakeUnaccepted();
  std::vector<store::Lease> offers;
  for (const auto& [id, page] : pages_) {
    if (page.stage == Page::Stage::kOffered) offers.push_back(page.lease);
  }
  auto open = OpenPages();
  const auto room = static_cast<int>(Room());
  if (gone.empty() && offers.empty() && open.empty() && room == 0) return nullptr;
  return [gone = std::move(gone), offers = std::move(offers), open = std::move(open), room,
          turns = shares_.Turns()](store::Session& session) {
    Served served;
    if (!open.empty()) served.open = store::LookAtOpenPages(session, open);
    for (const store::Lease& page : open) served.looked.push_back(page.id);
    if (!gone.empty()) store::ForgetRenders(session, gone);
    if (!offers.empty()) served.taken = store::TakenRenders(session, offers);
    if (room == 0) return served;
    served.token = base::Uuid::V4();
    served.claimed = store::ClaimRenders(session, served.token, room, turns, kRenderLease);
    return served;
  };
}

lease::NextRun RenderServer::OnServed(Served served) {
  OnOpenPages(served);
  for (const base::Uuid& id : served.taken) {
    const auto it = pages_.find(id);
    if (it != pages_.end() && it->second.stage == Page::Stage::kOffered) Begin(id);
  }
  std::vector<base::Uuid> org_ids;
  for (auto& one : served.claimed) {
    org_ids.push_back(one.org_id);
    Hold(std::move(one), served.token);
  }
  shares_.Begin(org_ids);
  if (!org_ids.empty()) signals_.Raise(store::Signal::kRendered);
  if (drain_.begun()) GiveBackOffers();
  return lease::kAtPoll;
}

// A page that nobody asks for any more is closed.
void RenderServer::OnOpenPages(const Served& served) {
  for (const base::Uuid& id : served.looked) {
    const auto asked = served.open.find(id);
    if (asked != served.open.end() && asked->second.empty()) continue;  // not decided yet
    auto node = held_.extract(id);
    if (node.empty() || asked == served.open.end()) continue;
    TakePicture(std::move(node.mapped()), asked->second);
  }
}

void RenderServer::TakePicture(Held held, const std::string& request) {
  const std::shared_ptr<net::OpenPage> page = std::move(held.page);
  page->TakePicture(UnpackPictureRequest(request),
                    live_.Guard([this, lease = held.lease, page](net::Picture picture) {
                      serve_.Wake();  // there is room
                      store::RunAsync<bool>(
                          pool_, loop_,
                          [lease, answer = PackPicture(picture)](store::Session& session) {
                            return store::AnswerRender(session, lease, answer);
                          },
                          live_.Guard([this](const std::variant<bool, store::Failure>& written) {
                            if (std::holds_alternative<bool>(written))
                              signals_.Raise(store::Signal::kRendered);
                          }));
                    }));
}

void RenderServer::Hold(store::ClaimedRender claimed, const base::Uuid& token) {
  leases_.Hold({claimed.id, token});
  Page page{.lease = {claimed.id, token}, .since = clock_.SinceBoot()};
  try {
    page.request = UnpackRenderRequest(claimed.request, {security_, claimed.org_id});
  } catch (const std::invalid_argument& e) {
    log_.Error("a page to render cannot be read", {{"error", e.what()}});
    page.unreadable = e.what();
  }
  page.request.org_id = claimed.org_id;
  pages_.insert_or_assign(claimed.id, std::move(page));
}

void RenderServer::Begin(const base::Uuid& id) {
  Page& page = pages_.at(id);
  page.stage = Page::Stage::kRendered;
  if (!page.unreadable.empty()) {
    net::RenderedPage failed;
    failed.response.error_class = net::HttpErrorClass::kProtocol;
    failed.response.error = page.unreadable;
    return Answer(id, page.lease.token, std::move(failed));
  }
  net::RenderRequest request = page.request;
  // Its turn has come already; a browser may have to be started.
  request.wait_max = config_.start_timeout_ms + milliseconds(1000);
  browser_.Render(std::move(request),
                  live_.Guard([this, id, token = page.lease.token](net::RenderedPage rendered) {
                    OnRendered(id, token, std::move(rendered));
                  }));
}

void RenderServer::OnRendered(const base::Uuid& id, const base::Uuid& token,
                              net::RenderedPage rendered) {
  const bool is_open = rendered.open != nullptr && rendered.open->taken().empty();
  const auto it = pages_.find(id);
  if (is_open && it != pages_.end() && it->second.lease.token == token) {
    // Whether its picture is wanted is known once its fields were found, to who asks.
    it->second.open = std::exchange(rendered.open, std::make_unique<net::OpenPage>(std::string()));
  }
  Answer(id, token, std::move(rendered));
}

void RenderServer::Answer(const base::Uuid& id, const base::Uuid& token,
                          net::RenderedPage rendered) {
  const auto it = pages_.find(id);
  serve_.Wake();  // there is room
  if (it == pages_.end() || it->second.lease.token != token) return;
  Page& page = it->second;
  page.stage = Page::Stage::kAnswered;
  shares_.End(page.request.org_id,
              std::chrono::duration_cast<milliseconds>(rendered.response.duration));
  store::RunAsync<bool>(
      pool_, loop_,
      [lease = page.lease, seal = RenderSeal{security_, page.request.org_id},
       rendered = std::make_shared<const net::RenderedPage>(std::move(rendered))](
          store::Session& session) {
        return store::AnswerRender(session, lease, PackRenderedPage(*rendered, seal));
      },
      live_.Guard([this, id, token](const std::variant<bool, store::Failure>& written) {
        OnAnswered(id, token, std::holds_alternative<bool>(written));
      }));
}

void RenderServer::OnAnswered(const base::Uuid& id, const base::Uuid& token, bool written) {
  if (written) signals_.Raise(store::Signal::kRendered);
  const auto it = pages_.find(id);
  if (it == pages_.end() || it->second.lease.token != token) return;
  Held held{it->second.lease, std::move(it->second.open), clock_.SinceBoot()};
  pages_.erase(it);
  if (written) {
    (void)leases_.Drop(id);
    if (held.page != nullptr && !drain_.begun()) held_.insert_or_assign(id, std::move(held));
  } else {
    leases_.GiveBack({id});  // somebody renders it again
  }
  drain_.Check();
}

void RenderServer::Forget(const base::Uuid& id) {
  const auto it = pages_.find(id);
  if (it == pages_.end()) return;
  shares_.End(it->second.request.org_id, milliseconds(0));
  pages_.erase(it);
  (void)leases_.Drop(id);
}

void RenderServer::GiveBackOffers() {
  std::vector<base::Uuid> ids;
  for (const auto& [id, page] : pages_) {
    if (page.stage == Page::Stage::kOffered) ids.push_back(id);
  }
  for (const base::Uuid& id : ids) pages_.erase(id);
  leases_.GiveBack(ids);
}

void RenderServer::Drain(std::function<void()> done) {
  drain_.Begin(std::move(done));
  held_.clear();
  serve_.Drain([this] {
    GiveBackOffers();
    drain_.Check();
  });
  GiveBackOffers();
}

}  // namespace vedette::worker
