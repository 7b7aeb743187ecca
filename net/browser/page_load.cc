#include "net/browser/page_load.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "base/json.h"
#include "base/text.h"
#include "config/probe_config.h"
#include "net/browser/page_document.h"
#include "net/browser/page_steps.h"
#include "net/url.h"

namespace vedette::net {
namespace {

using base::Json;
using std::chrono::milliseconds;

// How often a page is asked whether a selector matches; it may take as long each time.
constexpr milliseconds kLookEvery{200};
// What is left of a page's time when it is read although it is not quiet: a third, at most this.
constexpr milliseconds kReadingReserveMax{10'000};

const Json& Member(const Json& json, const char* name) {
  static const Json kNone = Json::object();
  const auto it = json.find(name);
  return it != json.end() && it->is_object() ? *it : kNone;
}

std::string HostOf(std::string_view url) {
  UrlParts parts;
  std::string error;
  return SplitUrl(url, &parts, &error) ? base::AsciiLower(parts.host) : "";
}

// The end of a worker's script that the page made itself would never be told.
bool NeedsNoNetwork(std::string_view url) {
  return url.starts_with("blob:") || url.starts_with("data:");
}

// The browser's own word is of how it shows what came: feeds as plain text. What it hands over is
// in UTF-8.
std::string ContentType(std::string_view mime_type, std::string_view header) {
  const std::string_view sent = base::Trim(header.substr(0, header.find(';')));
  const bool says_it = !IsHtml(mime_type) && sent.find('/') != std::string_view::npos;
  return base::AsciiLower(says_it ? sent : mime_type) + "; charset=utf-8";
}

HttpResponse ReadResponse(const Json& response, std::string_view mime_type) {
  HttpResponse out;
  const auto status = response.find("status");
  out.status = status != response.end() && status->is_number() ? status->get<int>() : 0;
  std::string type;
  for (const auto& [name, value] : Member(response, "headers").items()) {
    if (!value.is_string()) continue;
    const std::string lower = base::AsciiLower(name);
    if (lower == "content-type") {
      type = value.get<std::string>();
    } else if (lower != "etag" && lower != "last-modified") {
      out.headers.emplace_back(lower, value.get<std::string>());
    }
  }
  out.headers.emplace_back("content-type", ContentType(mime_type, type));
  return out;
}

// Such requests stay open for as long as the page, or hold nothing that it shows.
bool Counts(std::string_view type) {
  constexpr std::array<std::string_view, 5> kEndless{"EventSource", "WebSocket", "Ping",
                                                     "Preflight", "Media"};
  return std::find(kEndless.begin(), kEndless.end(), type) == kEndless.end();
}

HttpErrorClass ClassOf(std::string_view error) {
  if (error.starts_with("net::ERR_CERT") || error.starts_with("net::ERR_SSL")) {
    return HttpErrorClass::kTls;
  }
  if (error.find("TIMED_OUT") != std::string_view::npos) return HttpErrorClass::kTimeout;
  if (error == "net::ERR_BLOCKED_BY_CLIENT" || error == "net::ERR_UNSAFE_PORT" ||
      error.starts_with("net::ERR_UNKNOWN_URL_SCHEME")) {
    return HttpErrorClass::kRefusedAddress;
  }
  return HttpErrorClass::kProtocol;
}

// The answer alone.
RenderedPage Sent(const PageDocument& document) {
  RenderedPage page;
  page.response = document.response;
  page.url = document.url;
  return page;
}

RenderedPage AsSent(const PageDocument& document) {
  RenderedPage page = Sent(document);
  page.kind = RenderedPage::Kind::kAsSent;
  return page;
}

}  // namespace

struct PageLoad::Impl {
  using Progress = PageDocument::Progress;
  enum class State { kMaking, kActing, kLoading, kReading, kHeld, kShown, kEnded };  // page_load.h

  Impl(base::EventLoop& l, BrowserProcess& b, std::unique_ptr<PageProxy> p,
       const config::BrowserConfig& c, std::string agent)
      : loop(l),
        browser(&b),
        proxy(std::move(p)),
        config(c),
        user_agent(std::move(agent)),
        quiet(l, [this] { OnQuiet(); }),
        look(l, [this] { LookForMatch(); }),
        deadline(l, [this] { OnDeadline(); }) {
    proxy->WhenExceeded([this] { FailOverBound(); });
  }

  // Goes on with `then` when the command has succeeded.
  void Ask(std::string_view method, Json params, std::function<void(const Json& result)> then);
  void Tell(std::string_view method, Json params);
  void MakeContext();
  void SetCookies();
  void MakeTarget();
  void CloseContext(BrowserProcess* of);
  void Attach(const std::string& target);
  void Prepare(std::string_view method, Json params);
  void Navigate();
  void BeginSteps();
  void OnStepsMade();
  void OnEvent(const DevtoolsMessage& event);
  void OnRequest(const Json& event);
  void OnResponse(const Json& event);
  void OnNavigated(const Json& event);
  void OnRequestEnd(const Json& event);
  void LookForQuiet();
  void OnQuiet();
  void LookForMatch();
  void AskWhetherItMatches(const Json& world);
  void OnMatch(const BrowserProcess::Answer& answer);
  void AskMatch(std::string_view method, Json params,
                std::function<void(const BrowserProcess::Answer& answer)> then);
  bool HasDocument() const { return frame.now().progress != Progress::kNone; }
  // Whether what the frame shows may still become another document than the one that is read.
  bool FollowsFrame() const { return state == State::kActing || state == State::kLoading; }
  const std::string& Url() const { return frame.now().url.empty() ? order.url : frame.now().url; }
  void OnDeadline();
  void Read();
  void ReadAsSent();
  void ReadCookies(RenderedPage out);
  void EndRead(RenderedPage out);
  void Fail(HttpErrorClass error_class, std::string error);
  // The same with a picture of what is there, where one is asked for.
  void FailShown(HttpErrorClass error_class, std::string error);
  RenderedPage Failed(HttpErrorClass error_class, std::string error) const;
  std::shared_ptr<PagePicture> NewPicture() const;
  void OnShown(std::string file);
  void FailCommand(const std::string& error);
  void FailNavigation(const std::string& error);
  bool FailOverBound();
  void End(RenderedPage page);
  void Complete(RenderedPage* page) const;
  void Hold(RenderedPage page);
  void TakePicture(const PictureOrder& order, std::function<void(Picture picture)> then);
  void OnPicture(Picture taken);

  base::EventLoop& loop;
  BrowserProcess* browser;  // null: it is gone
  std::unique_ptr<PageProxy> proxy;
  const config::BrowserConfig& config;
  const std::string user_agent;
  std::weak_ptr<PageLoad> self;
  State state = State::kMaking;
  PageOrder order;
  std::unique_ptr<PageSteps> steps;  // null: none are begun
  bool is_asking = false;            // whether `wait_for` matches
  int preparing = 0;                 // commands
  Done done;
  Done on_held;  // where the page is to be held
  std::shared_ptr<PagePicture> picture;
  std::function<void(Picture picture)> picture_done;
  RenderedPage shown;  // that has failed, while its picture is taken
  milliseconds reserve{};
  std::string context;
  std::string session;
  std::string main_frame;
  MainFrame frame;
  std::optional<int> failed_step;
  std::set<std::string> in_flight;
  std::size_t requests = 0;
  base::Timer quiet;
  base::Timer look;
  base::Timer deadline;
};

void PageLoad::Impl::Ask(std::string_view method, Json params,
                         std::function<void(const Json& result)> then) {
  if (browser == nullptr || state == State::kEnded) return;
  browser->Send(method, std::move(params), session,
                [weak = self, then = std::move(then)](BrowserProcess::Answer answer) {
                  const auto held = weak.lock();
                  if (held == nullptr || held->impl_->state == State::kEnded) return;
                  if (answer.error.empty()) return then(answer.result);
                  held->impl_->FailCommand(answer.error);
                });
}

void PageLoad::Impl::Tell(std::string_view method, Json params) {
  if (browser != nullptr) browser->Send(method, std::move(params), session, nullptr);
}

// The answer is waited for even where the page has ended meanwhile: the context would stay.
void PageLoad::Impl::MakeContext() {
  Json params = {{"disposeOnDetach", true},
                 {"proxyServer", "http://127.0.0.1:" + std::to_string(proxy->port())},
                 {"proxyBypassList", "<-loopback>"}};
  browser->Send("Target.createBrowserContext", std::move(params), "",
                [held = self.lock(), asked = browser](const BrowserProcess::Answer& answer) {
                  Impl& impl = *held->impl_;
                  impl.context = TextMember(answer.result, "browserContextId");
                  if (impl.state == State::kEnded) return impl.CloseContext(asked);
                  if (!answer.error.empty()) return impl.FailCommand(answer.error);
                  impl.SetCookies();
                });
}

// A cookie that the browser does not take is missing to the page, which says so.
void PageLoad::Impl::SetCookies() {
  if (order.cookies.empty()) return MakeTarget();
  browser->Send("Storage.setCookies",
                {{"cookies", CookieParams(order.cookies)}, {"browserContextId", context}}, "",
                [weak = self](const BrowserProcess::Answer&) {
                  const auto held = weak.lock();
                  if (held != nullptr && held->impl_->state != State::kEnded) {
                    held->impl_->MakeTarget();
                  }
                });
}

void PageLoad::Impl::MakeTarget() {
  Tell("Browser.setDownloadBehavior", {{"behavior", "deny"}, {"browserContextId", context}});
  Ask("Target.createTarget",
      {{"url", "about:blank"}, {"browserContextId", context}, {"width", 1280}, {"height", 900}},
      [this](const Json& target) { Attach(TextMember(target, "targetId")); });
}

// The answer is what this object waits for, to be destroyed with its port.
void PageLoad::Impl::CloseContext(BrowserProcess* of) {
  if (context.empty()) return;
  of->Send("Target.disposeBrowserContext", {{"browserContextId", std::exchange(context, {})}}, "",
           [held = self.lock()](const BrowserProcess::Answer&) {});
}

void PageLoad::Impl::FailCommand(const std::string& error) {
  Fail(HttpErrorClass::kProtocol, "the browser refused a command: " + error);
}

// The main frame of a target has its id.
void PageLoad::Impl::Attach(const std::string& target) {
  main_frame = target;
  Ask("Target.attachToTarget", {{"targetId", target}, {"flatten", true}},
      [this](const Json& attached) {
        session = TextMember(attached, "sessionId");
        Prepare("Page.enable", Json::object());
        Prepare("Network.enable", {{"maxTotalBufferSize", 20 << 20}, {"maxPostDataSize", 0}});
        Prepare("Inspector.enable", Json::object());
        Prepare("Emulation.setUserAgentOverride", {{"userAgent", user_agent}});
        if (!order.steps.empty()) {
          Prepare("Emulation.setFocusEmulationEnabled", {{"enabled", true}});
        }
      });
}

// The page goes on in another process when it navigates, which knows only what the first one had
// answered by then: the events of a page that navigates sooner would be lost.
void PageLoad::Impl::Prepare(std::string_view method, Json params) {
  ++preparing;
  Ask(method, std::move(params), [this](const Json&) {
    if (--preparing == 0) Navigate();
  });
}

void PageLoad::Impl::Navigate() {
  state = State::kLoading;
  if (!order.steps.empty()) {
    BeginSteps();
  } else if (!order.wait_for.empty()) {
    look.Start(kLookEvery, kLookEvery);
  }
  Ask("Page.navigate", {{"url", order.url}}, [this](const Json& result) {
    const std::string error = TextMember(result, "errorText");
    if (!error.empty()) FailNavigation(error);
  });
}

void PageLoad::Impl::BeginSteps() {
  state = State::kActing;
  PageSteps::Page of;
  of.ask = [this](std::string_view method, Json params,
                  std::function<void(const BrowserProcess::Answer& answer)> then) {
    if (browser == nullptr || state != State::kActing) return;
    browser->Send(method, std::move(params), session,
                  [weak = self, then = std::move(then)](const BrowserProcess::Answer& answer) {
                    const auto held = weak.lock();
                    if (held != nullptr && held->impl_->state == State::kActing) then(answer);
                  });
  };
  of.main_frame = main_frame;
  of.url = order.url;
  of.has_document = [this] { return HasDocument(); };
  of.wait_for_quiet = [this] {
    quiet.Stop();  // what it has waited for was before the step
    LookForQuiet();
  };
  of.done = [this] { OnStepsMade(); };
  of.failed = [this](std::string why) {
    failed_step = steps->step();
    FailShown(HttpErrorClass::kProtocol, std::move(why));
  };
  of.not_reached = [this](const std::string& error) { FailNavigation(error); };
  steps = std::make_unique<PageSteps>(loop, order.steps, std::move(of));
  steps->Begin();
}

void PageLoad::Impl::OnStepsMade() {
  state = State::kLoading;
  if (!order.wait_for.empty()) look.Start(kLookEvery, kLookEvery);
  LookForQuiet();
}

void PageLoad::Impl::OnEvent(const DevtoolsMessage& event) {
  if (session.empty() || event.session != session || state == State::kEnded) return;
  if (event.method == "Network.requestWillBeSent") return OnRequest(event.body);
  if (event.method == "Network.responseReceived") return OnResponse(event.body);
  if (event.method == "Network.loadingFinished" || event.method == "Network.loadingFailed") {
    return OnRequestEnd(event.body);
  }
  if (event.method == "Page.frameNavigated") return OnNavigated(event.body);
  if (event.method == "Page.loadEventFired") {
    frame.OnLoaded();
    return LookForQuiet();
  }
  if (event.method == "Page.frameStoppedLoading" &&
      TextMember(event.body, "frameId") == main_frame) {
    frame.OnStopped();
    return LookForQuiet();
  }
  if (event.method == "Page.javascriptDialogOpening") {
    return Tell("Page.handleJavaScriptDialog", {{"accept", false}});
  }
  if (event.method == "Inspector.targetCrashed" || event.method == "Inspector.detached") {
    Fail(HttpErrorClass::kProtocol,
         "the page's process ended, perhaps because it had no memory left");
  }
}

void PageLoad::Impl::OnRequest(const Json& event) {
  if (++requests > config.page_requests_max) {
    return Fail(HttpErrorClass::kBodyTooLarge,
                "it makes more than " + std::to_string(config.page_requests_max) + " requests");
  }
  const std::string id = TextMember(event, "requestId");
  const std::string type = TextMember(event, "type");
  if (type == "Document") {
    // Another frame's may be another process's, which would tell its end elsewhere; the load event
    // waits for it.
    if (TextMember(event, "frameId") != main_frame) return;
    if (!FollowsFrame()) return;
    const Json& redirect = Member(event, "redirectResponse");
    frame.OnRequest(id, TextMember(Member(event, "request"), "url"),
                    redirect.empty() ? std::nullopt : std::optional(ReadResponse(redirect, "")));
    if (frame.now().redirects > kRedirectsMax) return End(Sent(frame.now()));
    is_asking = false;  // of the document before
  } else if (!Counts(type) || NeedsNoNetwork(TextMember(Member(event, "request"), "url"))) {
    return;
  }
  in_flight.insert(id);
  quiet.Stop();
}

void PageLoad::Impl::OnResponse(const Json& event) {
  if (!FollowsFrame() || TextMember(event, "requestId") != frame.now().request) return;
  const Json& response = Member(event, "response");
  const std::string mime_type = TextMember(response, "mimeType");
  frame.OnResponse(TextMember(response, "url"), mime_type, ReadResponse(response, mime_type));
}

// What is still asked for of the document before is of no use to this one. A document's loader has
// the id of its request.
void PageLoad::Impl::OnNavigated(const Json& event) {
  const Json& of = Member(event, "frame");
  const bool is_document = TextMember(of, "loaderId") == frame.now().request;
  if (!FollowsFrame() || TextMember(of, "id") != main_frame || !is_document) return;
  frame.OnShown();
  std::erase_if(in_flight, [&](const std::string& id) { return id != frame.now().request; });
}

void PageLoad::Impl::OnRequestEnd(const Json& event) {
  if (FailOverBound()) return;
  const std::string id = TextMember(event, "requestId");
  in_flight.erase(id);
  const bool aborted = TextMember(event, "errorText") == "net::ERR_ABORTED";
  if (aborted && FollowsFrame()) frame.OnAborted(id);
  LookForQuiet();
}

void PageLoad::Impl::LookForQuiet() {
  const PageDocument& now = frame.now();
  if (!FollowsFrame() || now.progress != Progress::kLoaded || !in_flight.empty()) return;
  if (state == State::kLoading && !order.wait_for.empty() && IsHtml(now.mime_type)) return;
  if (!quiet.active()) quiet.Start(config.quiet_ms);
}

void PageLoad::Impl::OnQuiet() {
  if (state == State::kActing) return steps->OnQuiet();
  Read();
}

// A world of scripts of our own, in which those of the page have changed nothing. The document may
// go between the question and its answer: then the next one is asked.
void PageLoad::Impl::LookForMatch() {
  if (state != State::kLoading || !HasDocument() || is_asking) return;
  is_asking = true;
  AskMatch("Page.createIsolatedWorld", {{"frameId", main_frame}, {"worldName", "vedette"}},
           [this](const BrowserProcess::Answer& made) {
             if (!made.error.empty()) return;
             const auto world = made.result.find("executionContextId");
             if (world != made.result.end()) AskWhetherItMatches(*world);
           });
}

void PageLoad::Impl::AskWhetherItMatches(const Json& world) {
  is_asking = true;
  AskMatch("Runtime.evaluate",
           {{"expression",
             "document.querySelector(" + base::DumpJson(Json(order.wait_for)) + ") !== null"},
            {"contextId", world},
            {"returnByValue", true},
            {"silent", true},
            {"timeout", kLookEvery.count()}},
           [this](const BrowserProcess::Answer& answer) { OnMatch(answer); });
}

void PageLoad::Impl::OnMatch(const BrowserProcess::Answer& answer) {
  const Json& fault = Member(answer.result, "exceptionDetails");
  if (TextMember(Member(fault, "exception"), "className") == "DOMException") {
    return FailShown(HttpErrorClass::kProtocol, "wait_for is no selector that the browser knows");
  }
  const Json& result = Member(answer.result, "result");
  const auto value = result.find("value");
  if (value != result.end() && value->is_boolean() && value->get<bool>()) Read();
}

// The same as Ask where the page goes on whatever the answer is.
void PageLoad::Impl::AskMatch(std::string_view method, Json params,
                              std::function<void(const BrowserProcess::Answer& answer)> then) {
  browser->Send(method, std::move(params), session,
                [weak = self, then = std::move(then)](const BrowserProcess::Answer& answer) {
                  const auto held = weak.lock();
                  if (held == nullptr || held->impl_->state != State::kLoading) return;
                  held->impl_->is_asking = false;
                  then(answer);
                });
}

// The first time the page is read as it is; the second time it has not answered.
void PageLoad::Impl::OnDeadline() {
  if (state == State::kHeld) return OnPicture({});
  if (state == State::kShown) return OnShown({});
  if (FailOverBound()) return;
  if (state == State::kLoading && HasDocument()) {
    deadline.Start(reserve);
    return Read();
  }
  if (state == State::kActing && HasDocument()) {
    failed_step = steps->step();
    return FailShown(HttpErrorClass::kProtocol, "the page's time was over; fewer steps may do");
  }
  const PageProxy::Fault fault = proxy->FaultOf(HostOf(Url()));
  if (fault.error_class != HttpErrorClass::kNone) return Fail(fault.error_class, fault.error);
  FailShown(HttpErrorClass::kTimeout, "it was not rendered in its time");
}

void PageLoad::Impl::Read() {
  if (FailOverBound()) return;
  state = State::kReading;
  quiet.Stop();
  look.Stop();
  frame.Settle();
  if (!IsHtml(frame.now().mime_type)) return ReadAsSent();
  browser->SendForText("DOMSnapshot.captureSnapshot", {{"computedStyles", Json::array()}}, session,
                       [weak = self](std::string text, std::string error) {
                         const auto held = weak.lock();
                         if (held == nullptr) return;
                         Impl& impl = *held->impl_;
                         if (impl.state == State::kEnded) return;
                         if (!error.empty()) {
                           return impl.Fail(HttpErrorClass::kBodyTooLarge,
                                            "what its scripts made is too large");
                         }
                         RenderedPage out = Sent(impl.frame.now());
                         out.response.body = std::move(text);
                         impl.ReadCookies(std::move(out));
                       });
}

// What the browser has not kept is to be fetched.
void PageLoad::Impl::ReadAsSent() {
  browser->Send("Network.getResponseBody", {{"requestId", frame.now().request}}, session,
                [weak = self](const BrowserProcess::Answer& sent) {
                  const auto held = weak.lock();
                  if (held == nullptr || held->impl_->state == State::kEnded) return;
                  RenderedPage out = AsSent(held->impl_->frame.now());
                  const auto coded = sent.result.find("base64Encoded");
                  const bool is_text =
                      coded == sent.result.end() || !coded->is_boolean() || !coded->get<bool>();
                  if (is_text) out.response.body = TextMember(sent.result, "body");
                  held->impl_->ReadCookies(std::move(out));
                });
}

// The page is read without them where they cannot be had.
void PageLoad::Impl::ReadCookies(RenderedPage out) {
  if (!order.reads_cookies) return EndRead(std::move(out));
  browser->Send("Storage.getCookies", {{"browserContextId", context}}, "",
                [weak = self, read = std::make_shared<RenderedPage>(std::move(out))](
                    const BrowserProcess::Answer& answer) {
                  const auto held = weak.lock();
                  if (held == nullptr || held->impl_->state == State::kEnded) return;
                  read->cookies = net::ReadCookies(answer.result, HostOf(read->url));
                  held->impl_->EndRead(std::move(*read));
                });
}

// Pages of errors, too: what they look like tells more than their status.
void PageLoad::Impl::EndRead(RenderedPage out) {
  if (on_held && out.kind == RenderedPage::Kind::kSnapshot) return Hold(std::move(out));
  End(std::move(out));
}

void PageLoad::Impl::FailNavigation(const std::string& error) {
  if (FailOverBound()) return;
  const PageProxy::Fault fault = proxy->FaultOf(HostOf(Url()));
  if (fault.error_class != HttpErrorClass::kNone) return Fail(fault.error_class, fault.error);
  const PageDocument* refused = frame.refused();
  // An answer of a server's that has nothing but its status.
  const PageDocument& asked = refused != nullptr ? *refused : frame.now();
  if (asked.response.status >= 400) return End(Sent(asked));
  // What the browser would download, or has nothing to show of.
  if (refused != nullptr && refused->progress == Progress::kAnswered) {
    state = State::kReading;
    quiet.Stop();
    look.Stop();
    return ReadCookies(AsSent(*refused));
  }
  Fail(ClassOf(error), "the browser says " + error);
}

bool PageLoad::Impl::FailOverBound() {
  const char* bound = proxy->exceeded();
  if (bound == nullptr || state == State::kEnded) return false;
  Fail(HttpErrorClass::kBodyTooLarge, std::string("it fetches more ") + bound + " than it may");
  return true;
}

void PageLoad::Impl::Fail(HttpErrorClass error_class, std::string error) {
  if (state == State::kShown) return OnShown({});
  End(Failed(error_class, std::move(error)));
}

void PageLoad::Impl::FailShown(HttpErrorClass error_class, std::string error) {
  const bool is_there = HasDocument() && IsHtml(frame.now().mime_type);
  const bool loads =
      state == State::kActing || state == State::kLoading || state == State::kReading;
  if (!on_held || browser == nullptr || !is_there || !loads) {
    return Fail(error_class, std::move(error));
  }
  shown = Failed(error_class, std::move(error));
  state = State::kShown;
  quiet.Stop();
  look.Stop();
  if (steps != nullptr) steps->Stop();
  proxy->Stop();
  deadline.Start(kPictureTimeMax);
  picture = NewPicture();
  picture->Take({}, [this](Picture taken) { OnShown(std::move(taken.file)); });
}

void PageLoad::Impl::OnShown(std::string file) {
  const auto kept = self.lock();
  if (!file.empty()) shown.open = std::make_unique<OpenPage>(std::move(file));
  End(std::move(shown));
}

std::shared_ptr<PagePicture> PageLoad::Impl::NewPicture() const {
  std::vector<std::string> secrets;
  for (const domain::PageStep& step : order.steps) {
    if (!step.secret.empty() && !step.value.empty()) secrets.push_back(step.value);
  }
  return std::make_shared<PagePicture>(*browser, session, main_frame, std::move(secrets));
}

RenderedPage PageLoad::Impl::Failed(HttpErrorClass error_class, std::string error) const {
  RenderedPage failed;
  failed.url = Url();
  failed.failed_step = failed_step;
  failed.response.error_class = error_class;
  const std::string step = state == State::kActing ? steps->Name() : "";
  failed.response.error = step.empty() ? std::move(error) : step + ": " + error;
  return failed;
}

// A plain request that the proxy refused has an answer of the proxy's, which is none of the page's.
void PageLoad::Impl::Complete(RenderedPage* ended) const {
  if (ended->response.error_class == HttpErrorClass::kNone) {
    const PageProxy::Fault fault = proxy->FaultOf(HostOf(ended->url));
    if (fault.error_class != HttpErrorClass::kNone &&
        (ended->response.status == 403 || ended->response.status == 502)) {
      ended->response = {};
      ended->response.error_class = fault.error_class;
      ended->response.error = fault.error;
    }
  }
  // A form may put what was typed into an address.
  ended->url = domain::WithoutSecrets(std::move(ended->url), order.steps);
  ended->response.error = domain::WithoutSecrets(std::move(ended->response.error), order.steps);
  ended->bytes = proxy->bytes();
  ended->refused = proxy->refused();
}

void PageLoad::Impl::End(RenderedPage ended) {
  if (std::exchange(state, State::kEnded) == State::kEnded) return;
  quiet.Stop();
  look.Stop();
  deadline.Stop();
  if (steps != nullptr) steps->Stop();
  proxy->Stop();
  picture = nullptr;
  if (browser != nullptr) CloseContext(std::exchange(browser, nullptr));
  Complete(&ended);
  const auto pictured = std::exchange(picture_done, {});
  const auto tell = std::move(done);
  tell(std::move(ended));
  if (pictured) pictured({});
}

void PageLoad::Impl::Hold(RenderedPage read) {
  state = State::kHeld;
  proxy->Stop();
  Complete(&read);
  deadline.Start(kHeldOpenMax);
  read.open = std::make_unique<OpenPage>(self);
  const auto tell = std::exchange(on_held, {});
  tell(std::move(read));
}

void PageLoad::Impl::TakePicture(const PictureOrder& wanted,
                                 std::function<void(Picture picture)> then) {
  if (state != State::kHeld || browser == nullptr || picture != nullptr) return then({});
  picture_done = std::move(then);
  deadline.Start(kPictureTimeMax);
  picture = NewPicture();
  picture->Take(wanted, [this](Picture taken) { OnPicture(std::move(taken)); });
}

void PageLoad::Impl::OnPicture(Picture taken) {
  const auto kept = self.lock();
  const auto tell = std::exchange(picture_done, {});
  End({});
  if (tell) tell(std::move(taken));
}

OpenPage::~OpenPage() {
  if (elsewhere_.close) elsewhere_.close();
  const auto page = page_.lock();
  if (page != nullptr && page->impl_->picture == nullptr) page->impl_->OnPicture({});
}

void OpenPage::TakePicture(const PictureOrder& order, std::function<void(Picture picture)> done) {
  if (elsewhere_.picture) {
    return std::exchange(elsewhere_, {}).picture(order, std::move(done));
  }
  const auto page = page_.lock();
  if (page == nullptr) return done({taken_, ""});
  page->impl_->TakePicture(order, std::move(done));
}

PageLoad::PageLoad(base::EventLoop& loop, BrowserProcess& browser, std::unique_ptr<PageProxy> proxy,
                   const config::BrowserConfig& config, std::string user_agent)
    : impl_(
          std::make_unique<Impl>(loop, browser, std::move(proxy), config, std::move(user_agent))) {}

PageLoad::~PageLoad() = default;

void PageLoad::Start(PageOrder order, milliseconds timeout, Done done) {
  Impl& s = *impl_;
  s.self = weak_from_this();
  s.order = std::move(order);
  s.done = std::move(done);
  s.reserve = std::min(timeout / 3, kReadingReserveMax);
  s.deadline.Start(timeout - s.reserve);
  s.MakeContext();
}

void PageLoad::HoldFor(Done held) {
  impl_->on_held = std::move(held);
}

void PageLoad::OnEvent(const DevtoolsMessage& event) {
  const auto held = shared_from_this();
  impl_->OnEvent(event);
}

void PageLoad::Abandon(const std::string& why) {
  impl_->browser = nullptr;
  impl_->Fail(HttpErrorClass::kProtocol, "the browser is gone: " + why);
}

}  // namespace vedette::net
