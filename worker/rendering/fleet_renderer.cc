#include "worker/rendering/fleet_renderer.h"

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <variant>

#include "base/assert.h"
#include "store/fleet/fleet.h"
#include "worker/rendering/render_message.h"

namespace vedette::worker {
namespace {

using net::HttpErrorClass;
using std::chrono::milliseconds;

// Behind the signals.
constexpr milliseconds kLookEvery{1000};
constexpr milliseconds kRenewEvery = kRenderAsked / 3;
constexpr milliseconds kMembersEvery{5000};
// Answers that are read at once, each of which may be large.
constexpr std::size_t kCollectedMax = 4;

// What a picture may take beyond its own time: both ways.
constexpr milliseconds kPictureSlack{5000};

constexpr const char* kNobody = "no process with the role browser is alive";

net::RenderedPage Failed(const std::string& url, HttpErrorClass error_class, std::string error) {
  net::RenderedPage page;
  page.url = url;
  page.response.error_class = error_class;
  page.response.error = std::move(error);
  return page;
}

net::RenderedPage Unpacked(const std::string& answer, const RenderSeal& seal) {
  try {
    return UnpackRenderedPage(answer, seal);
  } catch (const std::invalid_argument& e) {
    return Failed("", HttpErrorClass::kProtocol, e.what());
  }
}

}  // namespace

FleetRenderer::FleetRenderer(base::EventLoop& loop, store::Pool& pool, store::Signals& signals,
                             const base::Clock& clock, metrics::Metrics& metrics,
                             const config::SecurityConfig& security, std::string why,
                             base::Logger log, milliseconds awaited)
    : loop_(loop),
      pool_(pool),
      signals_(signals),
      clock_(clock),
      metrics_(metrics),
      security_(security),
      why_(std::move(why)),
      log_(log),
      awaited_(awaited),
      look_(loop, pool, log, {.failed = "looking for rendered pages failed", .poll = kLookEvery},
            {.begin = [this] { return BeginLook(); },
             .finish = [this](Look look) { return OnLook(std::move(look)); },
             .failed = [this](const store::Failure& /*failure*/) { EndOverdue(); }}),
      watch_(loop, pool, log,
             {.failed = "looking for processes of the role browser failed", .poll = kMembersEvery},
             {.begin = [] { return store::ReadBrowserMembers; },
              .finish =
                  [this](const store::BrowserMembers& members) {
                    OnMembers(members);
                    return lease::kAtPoll;
                  }}) {}

void FleetRenderer::Start() {
  started_at_ = clock_.SinceBoot();
  look_.Start();
  watch_.Start();
}

void FleetRenderer::Wake() {
  if (!pages_.empty()) look_.Wake();
}

std::string FleetRenderer::lack() const {
  const Members now = members_;
  if (now == Members::kAlive) return "";
  return why_ + ", and " + kNobody + (now == Members::kAwaited ? " yet" : "");
}

void FleetRenderer::Render(net::RenderRequest request,
                           std::function<void(net::RenderedPage page)> done) {
  const bool full = pages_.size() >= kRendersAskedMax;
  const Members now = members_;
  if (full || now == Members::kDead || now == Members::kNone) {
    loop_.Post([url = request.url, full, done = std::move(done)] {
      done(full ? Failed(url, HttpErrorClass::kBusy, "too many pages wait")
                : Failed(url, HttpErrorClass::kConnect, kNobody));
    });
    return;
  }
  const base::Uuid id = base::Uuid::V7(clock_);
  store::RunAsync<bool>(
      pool_, loop_,
      [id, org_id = request.org_id,
       message = PackRenderRequest(request, {security_, request.org_id})](store::Session& session) {
        store::AskForRender(session, id, org_id, message, kRenderAsked);
        return true;
      },
      live_.Guard([this, id](const std::variant<bool, store::Failure>& written) {
        OnAsked(id, std::holds_alternative<bool>(written));
      }));
  pages_.emplace(
      id, Page{std::move(request), std::move(done), Page::Stage::kAsked, clock_.SinceBoot()});
}

void FleetRenderer::OnAsked(const base::Uuid& id, bool written) {
  const auto it = pages_.find(id);
  base::Assert(it != pages_.end(), "a page is kept until its row is there");
  if (!written) return Fail(id, HttpErrorClass::kBusy, "the database is away");
  it->second.stage = Page::Stage::kWaits;
  signals_.Raise(store::Signal::kRender);
  look_.Wake();  // begins to poll
}

lease::Step<FleetRenderer::Look>::Job FleetRenderer::BeginLook() {
  EndOverdue();
  std::vector<base::Uuid> ids;
  for (const auto& [id, page] : pages_) {
    if (page.stage != Page::Stage::kAsked) ids.push_back(id);
  }
  if (ids.empty() && cancelled_.empty() && pictures_.empty()) return nullptr;
  const bool renew = clock_.SinceBoot() - renewed_at_ >= kRenewEvery;
  if (renew) renewed_at_ = clock_.SinceBoot();
  return [ids = std::move(ids), renew, gone = std::exchange(cancelled_, {}),
          pictures = std::exchange(pictures_, {})](store::Session& session) {
    Look look;
    look.told = !gone.empty() || !pictures.empty();
    if (!gone.empty()) store::CancelRenders(session, gone);
    for (const auto& [id, request] : pictures) store::AskForPicture(session, id, request);
    if (!ids.empty()) look.news = store::LookAtRenders(session, ids, renew, kRenderAsked);
    return look;
  };
}

lease::Step<FleetRenderer::Look>::Then FleetRenderer::OnLook(Look look) {
  for (auto& [id, page] : look.pages) OnCollected(id, std::move(page));
  for (const auto& [id, answer] : look.pictures) {
    auto node = pages_.extract(id);
    if (!node.empty()) node.mapped().pictured(UnpackPicture(answer));
  }
  for (const base::Uuid& id : look.accepted) {
    const auto it = pages_.find(id);
    if (it == pages_.end() || it->second.stage != Page::Stage::kOffered) continue;
    const bool begun = std::find(look.begun.begin(), look.begun.end(), id) != look.begun.end();
    it->second.stage = begun ? Page::Stage::kTaken : Page::Stage::kWaits;
    it->second.since = clock_.SinceBoot();
  }
  if (!look.begun.empty() || look.told) signals_.Raise(store::Signal::kRender);
  std::vector<store::Lease> accept;
  std::vector<base::Uuid> collect;
  for (const store::RenderNews& one : look.news) OnNews(one, &accept, &collect);
  Show();
  const bool more = collect.size() > kCollectedMax;
  if (more) collect.resize(kCollectedMax);
  if (accept.empty() && collect.empty()) {
    const bool more_to_tell = !cancelled_.empty() || !pictures_.empty();
    return look.pages.empty() && !more_to_tell ? lease::kAtPoll : lease::kAtOnce;
  }
  return Collect(std::move(accept), std::move(collect));
}

lease::Step<FleetRenderer::Look>::Then FleetRenderer::Collect(std::vector<store::Lease> accept,
                                                              std::vector<base::Uuid> ids) {
  std::map<base::Uuid, base::Uuid> org_of;
  std::vector<base::Uuid> pictures;
  std::vector<base::Uuid> held;
  std::vector<base::Uuid> others;
  for (const base::Uuid& id : ids) {
    const Page& page = pages_.at(id);
    org_of.emplace(id, page.request.org_id);
    (page.stage == Page::Stage::kPictured ? pictures
     : page.request.holds_open            ? held
                                          : others)
        .push_back(id);
  }
  return [accept = std::move(accept), pictures = std::move(pictures), held = std::move(held),
          others = std::move(others), org_of = std::move(org_of),
          &security = security_](store::Session& session) {
    Look then;
    for (const store::Lease& offer : accept) then.accepted.push_back(offer.id);
    if (!accept.empty()) then.begun = store::AcceptRenders(session, accept);
    if (!pictures.empty()) then.pictures = store::CollectRenders(session, pictures);
    const auto unpack = [&](const std::map<base::Uuid, std::string>& answers) {
      for (const auto& [id, answer] : answers) {
        then.pages.emplace(id, Unpacked(answer, {security, org_of.at(id)}));
      }
    };
    if (!others.empty()) unpack(store::CollectRenders(session, others));
    if (!held.empty()) unpack(store::CollectHeldRenders(session, held));
    return then;
  };
}

// A page that is open there stays in the books until its picture has come, or nobody wants it.
void FleetRenderer::OnCollected(const base::Uuid& id, net::RenderedPage page) {
  const auto it = pages_.find(id);
  if (it == pages_.end()) return;
  const bool is_open = page.open != nullptr && page.open->taken().empty();
  if (!is_open) {
    if (it->second.request.holds_open) cancelled_.push_back(id);
    return Finish(id, std::move(page));
  }
  it->second.stage = Page::Stage::kHeld;
  it->second.since = clock_.SinceBoot();
  page.open = std::make_unique<net::OpenPage>(net::OpenPage::Elsewhere{
      .picture = live_.Guard([this, id](const net::PictureOrder& order,
                                        std::function<void(net::Picture picture)> done) {
        AskForPicture(id, order, std::move(done));
      }),
      .close = live_.Guard([this, id] { Close(id); })});
  const auto done = std::exchange(it->second.done, {});
  done(std::move(page));
}

void FleetRenderer::AskForPicture(const base::Uuid& id, const net::PictureOrder& order,
                                  std::function<void(net::Picture picture)> done) {
  const auto it = pages_.find(id);
  if (it == pages_.end()) return done({});
  it->second.stage = Page::Stage::kPictured;
  it->second.since = clock_.SinceBoot();
  it->second.pictured = std::move(done);
  pictures_.emplace(id, PackPictureRequest(order));
  look_.Wake();
}

void FleetRenderer::Close(const base::Uuid& id) {
  if (pages_.erase(id) == 0) return;
  cancelled_.push_back(id);
  look_.Wake();
}

void FleetRenderer::OnNews(const store::RenderNews& one, std::vector<store::Lease>* accept,
                           std::vector<base::Uuid>* collect) {
  const auto it = pages_.find(one.id);
  if (it == pages_.end() || it->second.stage == Page::Stage::kAsked) return;
  Page& page = it->second;
  switch (one.kind) {
    case store::RenderNews::Kind::kOffered: {
      // What a page has waited for its first browser is no time of its check.
      const auto waited = one.claims > 1
                              ? milliseconds(0)
                              : std::chrono::floor<milliseconds>(clock_.SinceBoot() - page.since);
      const bool may = !page.request.on_turn || page.request.on_turn(waited);
      if (!may) return Fail(one.id, HttpErrorClass::kBusy, "no turn");
      page.stage = Page::Stage::kOffered;
      page.since = clock_.SinceBoot();
      accept->push_back({one.id, one.token});
      return;
    }
    case store::RenderNews::Kind::kAnswered:
      collect->push_back(one.id);
      return;
    case store::RenderNews::Kind::kGivenUp:
      return Fail(one.id, HttpErrorClass::kProtocol,
                  "each process that had the page in its browser has died");
    case store::RenderNews::Kind::kGone:
      // The database has crashed, or this process did not renew in time.
      return Fail(one.id, HttpErrorClass::kBusy, "nobody knows of the page any more");
  }
}

// Waits have their bound, and so has what was accepted.
void FleetRenderer::EndOverdue() {
  const auto now = clock_.SinceBoot();
  std::vector<std::pair<base::Uuid, bool>> over;
  for (const auto& [id, page] : pages_) {
    if (page.stage == Page::Stage::kAsked) continue;
    const bool waits = page.stage == Page::Stage::kWaits;
    const bool is_open = page.stage == Page::Stage::kHeld || page.stage == Page::Stage::kPictured;
    const milliseconds most = waits     ? page.request.wait_max
                              : is_open ? net::kPictureTimeMax + kPictureSlack
                                        : page.request.timeout + kRenderSlack;
    if (now - page.since > most) over.emplace_back(id, waits);
  }
  for (const auto& [id, waits] : over) {
    if (waits) {
      Fail(id, HttpErrorClass::kBusy, "no page of a browser was free");
    } else {
      Fail(id, HttpErrorClass::kTimeout, "the browser's process does not answer");
    }
  }
}

void FleetRenderer::OnMembers(const store::BrowserMembers& members) {
  const Members before = members_;
  const bool over = clock_.SinceBoot() - started_at_ >= awaited_;
  Members next = before;
  if (members.alive) {
    next = Members::kAlive;
  } else if (before == Members::kAlive || (over && members.shown)) {
    next = Members::kDead;
  } else if (before == Members::kAwaited && over) {
    next = Members::kNone;
  }
  members_ = next;
  metrics_.SetBrowserMissing(next != Members::kAlive);
  if (next == before) return;
  if (next == Members::kAlive) {
    return log_.Info("pages are rendered by processes of the role browser", {});
  }
  log_.Warn("pages are not rendered", {{"why", lack()}});
  std::vector<base::Uuid> waiting;
  for (const auto& [id, page] : pages_) {
    if (page.stage == Page::Stage::kWaits) waiting.push_back(id);
  }
  for (const base::Uuid& id : waiting) Fail(id, HttpErrorClass::kConnect, kNobody);
}

void FleetRenderer::Fail(const base::Uuid& id, HttpErrorClass error_class,
                         const std::string& error) {
  cancelled_.push_back(id);
  pictures_.erase(id);
  Finish(id, Failed(pages_.at(id).request.url, error_class, error));
}

void FleetRenderer::Finish(const base::Uuid& id, net::RenderedPage page) {
  auto node = pages_.extract(id);
  if (node.empty()) return;
  if (node.mapped().pictured) return node.mapped().pictured({});
  if (node.mapped().done) node.mapped().done(std::move(page));
}

void FleetRenderer::Show() {
  const auto open = std::count_if(pages_.begin(), pages_.end(), [](const auto& one) {
    return one.second.stage >= Page::Stage::kOffered;
  });
  const auto all = static_cast<std::int64_t>(pages_.size());
  metrics_.SetBrowser(open, all - open, 0);
}

}  // namespace vedette::worker
