#include "net/browser/page_steps.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/json.h"
#include "base/text.h"
#include "net/browser/devtools_messages.h"

namespace vedette::net {
namespace {

using base::Json;
using domain::PageStep;
using Kind = domain::PageStep::Kind;
using std::chrono::milliseconds;

// How often a step looks for what it acts on, and how long.
constexpr milliseconds kLookEvery{200};
constexpr milliseconds kLookMax{10'000};
// How long a page may fetch behind a step before the next one is made all the same.
constexpr milliseconds kSettleMax{5'000};
// Between two screens that are scrolled.
constexpr milliseconds kScrollPause{50};
constexpr milliseconds kScrollMax{10'000};
// How long what a step asks of the page may run there, handlers of the page's own among it.
constexpr milliseconds kAskMax{5'000};
constexpr std::size_t kShownCharactersMax = 100;

// What an expression answers that has found what it needs; a text says what is in the way.
constexpr std::string_view kLook = R"js(
const inside = host => {
  if (host.shadowRoot) return host.shadowRoot;
  return host.localName === 'iframe' || host.localName === 'frame' ? host.contentDocument : null;
};
const find = (selector, root) => {
  const found = root.querySelector(selector);
  if (found) return found;
  for (const host of root.querySelectorAll('*')) {
    const inner = inside(host);
    const deeper = inner && find(selector, inner);
    if (deeper) return deeper;
  }
  return null;
};
const windowOf = e => e.ownerDocument.defaultView;
const usable = e => {
  if (!e) return 'nothing matches the selector';
  e.scrollIntoView({block: 'center', inline: 'center', behavior: 'instant'});
  const box = [...e.getClientRects()].find(r => r.width > 0 && r.height > 0);
  if (!box || windowOf(e).getComputedStyle(e).visibility !== 'visible') return 'what matches cannot be seen';
  return e.disabled ? 'what matches is disabled' : box;
};
)js";

constexpr std::string_view kMatches = "return find(selector, document) !== null;";

constexpr std::string_view kClick = R"js(
const e = find(selector, document), box = usable(e);
if (typeof box === 'string') return box;
const x = box.left + box.width / 2, y = box.top + box.height / 2;
const at = e.getRootNode().elementFromPoint(x, y);
if (!at) return 'what matches cannot be seen';
const labelled = [...(e.labels || [])].some(label => label.contains(at));
if (!e.contains(at) && !at.contains(e) && !labelled) return 'something else lies over what matches';
// The place on the page: frame by frame, and nothing lies over any of them.
let place = [x, y];
for (let frame = windowOf(e).frameElement; frame; frame = windowOf(frame).frameElement) {
  const outer = frame.getBoundingClientRect();
  place = [place[0] + outer.left + frame.clientLeft, place[1] + outer.top + frame.clientTop];
  if (frame.getRootNode().elementFromPoint(...place) !== frame) return 'something else lies over what matches';
}
return place;
)js";

// Fields of a form of their own are set, as no text can be typed there.
constexpr std::string_view kFocus = R"js(
const e = find(selector, document), box = usable(e);
if (typeof box === 'string') return box;
if (e.readOnly) return 'what matches cannot be written to';
if (!e.isContentEditable && !['input', 'textarea'].includes(e.localName)) return 'what matches is no field for text';
e.focus();
if (['date', 'time', 'datetime-local', 'month', 'week', 'color', 'range'].includes(e.type)) {
  e.value = value;
  for (const type of ['input', 'change']) e.dispatchEvent(new (windowOf(e).Event)(type, {bubbles: true}));
  return ['set'];
}
if (e.select) e.select(); else windowOf(e).getSelection().selectAllChildren(e);
return ['type'];
)js";

constexpr std::string_view kSelect = R"js(
const e = find(selector, document);
if (!e) return 'nothing matches the selector';
if (e.localName !== 'select') return 'what matches is no <select>';
if (e.disabled) return 'what matches is disabled';
const option = [...e.options].find(o => o.value === value) || [...e.options].find(o => o.label.trim() === value);
if (!option) return 'what matches has no such option';
e.focus();
option.selected = true;
for (const type of ['input', 'change']) e.dispatchEvent(new (windowOf(e).Event)(type, {bubbles: true}));
return [];
)js";

// Whether the end is reached, and how far that is.
constexpr std::string_view kScroll = R"js(
scrollBy({top: innerHeight, behavior: 'instant'});
const height = document.scrollingElement ? document.scrollingElement.scrollHeight : 0;
return [scrollY + innerHeight >= height - 2, height];
)js";

struct Key {
  std::string_view name;
  int code;               // as Windows has it
  std::string_view text;  // that it types
};
constexpr std::array<Key, 14> kKeys{{{"Enter", 13, "\r"},
                                     {"Tab", 9, ""},
                                     {"Escape", 27, ""},
                                     {"Backspace", 8, ""},
                                     {"Delete", 46, ""},
                                     {"Space", 32, " "},
                                     {"ArrowUp", 38, ""},
                                     {"ArrowDown", 40, ""},
                                     {"ArrowLeft", 37, ""},
                                     {"ArrowRight", 39, ""},
                                     {"Home", 36, ""},
                                     {"End", 35, ""},
                                     {"PageUp", 33, ""},
                                     {"PageDown", 34, ""}}};

Json KeyEvent(std::string_view name, bool down) {
  for (const Key& key : kKeys) {
    if (key.name != name) continue;
    Json event{{"type", !down              ? "keyUp"
                        : key.text.empty() ? "rawKeyDown"
                                           : "keyDown"},
               {"key", name == "Space" ? " " : name},
               {"code", name},
               {"windowsVirtualKeyCode", key.code}};
    if (down && !key.text.empty()) event["text"] = key.text;
    return event;
  }
  return Json::object();
}

Json MouseEvent(const char* type, const Json& at) {
  const bool moves = std::string_view(type) == "mouseMoved";
  return {{"type", type},
          {"x", at[0]},
          {"y", at[1]},
          {"button", moves ? "none" : "left"},
          {"clickCount", moves ? 0 : 1}};
}

// Whether the page may become another one by it.
bool MayChangePage(Kind kind) {
  return kind != Kind::kFill && kind != Kind::kWaitFor;
}

}  // namespace

struct PageSteps::Impl {
  enum class State { kLoads, kSettles, kAsks, kLooks, kActs, kEnded };  // page_steps.h
  using Next = std::function<void()>;

  Impl(base::EventLoop& loop, std::vector<PageStep> all, Page of)
      : steps(std::move(all)),
        page(std::move(of)),
        settle(loop, [this] { OnSettleTimer(); }),
        look(loop, [this] { LookAgain(); }),
        limit(loop, [this] { OnLimit(); }) {}

  const PageStep& step() const { return steps[at]; }
  bool IsLooking() const { return state == State::kAsks || state == State::kLooks; }

  void Settle(Next then);
  void OnSettleTimer();
  void OnSettled();
  void BeginStep();
  void CheckCondition();
  void BeginAction();
  void LookAgain();
  void Look();
  void Evaluate(std::string_view script, const std::string& selector,
                std::function<void(const Json& found)> then);
  void OnEvaluated(const Answer& answer, const std::function<void(const Json& found)>& then);
  void OnFound(const Json& found);
  void Click(const Json& place);
  void Type(const Json& found);
  void Press(std::string_view key);
  void Go();
  void Scroll();
  void OnScrolled(const Json& found);
  void Send(std::vector<std::pair<std::string_view, Json>> commands, std::size_t from);
  void OnLimit();
  void EndStep();
  void Fail(std::string why);
  void Stop();

  const std::vector<PageStep> steps;
  const Page page;
  State state = State::kLoads;
  std::size_t at = 0;
  Next then;                     // when it has settled
  std::string in_the_way;        // of the step that looks
  std::optional<Json> last_end;  // of the page that is scrolled
  base::Timer settle;
  base::Timer look;
  base::Timer limit;  // of the step that looks or scrolls
};

void PageSteps::Impl::Settle(Next next) {
  state = State::kSettles;
  then = std::move(next);
  settle.Start(kSettleMax);
  page.wait_for_quiet();
}

// A document that is on its way is waited for; the page's own time bounds that.
void PageSteps::Impl::OnSettleTimer() {
  if (!page.has_document()) return settle.Start(kLookEvery);
  OnSettled();
}

void PageSteps::Impl::OnSettled() {
  if (!then) return;
  settle.Stop();
  std::exchange(then, nullptr)();
}

void PageSteps::Impl::BeginStep() {
  state = State::kLooks;
  in_the_way = "the page does not answer";
  limit.Start(step().kind == Kind::kScrollToEnd ? kScrollMax : kLookMax);
  if (!step().only_if.empty()) return CheckCondition();
  BeginAction();
}

void PageSteps::Impl::CheckCondition() {
  state = State::kAsks;
  Evaluate(kMatches, step().only_if, [this](const Json& found) {
    if (found.is_boolean() && found.get<bool>()) return BeginAction();
    limit.Stop();
    if (++at == steps.size()) {
      Stop();
      return page.done();
    }
    BeginStep();
  });
}

void PageSteps::Impl::BeginAction() {
  state = State::kLooks;
  if (step().kind == Kind::kGoto) return Go();
  if (step().kind == Kind::kPress) return Press(step().target);
  if (step().kind == Kind::kScrollToEnd) last_end.reset();
  Look();
}

void PageSteps::Impl::LookAgain() {
  if (state == State::kAsks) return CheckCondition();
  if (state == State::kLooks) Look();
}

void PageSteps::Impl::Look() {
  switch (step().kind) {
    case Kind::kClick:
      return Evaluate(kClick, step().target, [this](const Json& found) { OnFound(found); });
    case Kind::kFill:
      return Evaluate(kFocus, step().target, [this](const Json& found) { OnFound(found); });
    case Kind::kSelect:
      return Evaluate(kSelect, step().target, [this](const Json& found) { OnFound(found); });
    case Kind::kScrollToEnd:
      return Scroll();
    default:
      break;
  }
  Evaluate(kMatches, step().target, [this](const Json& found) {
    const bool is_there = found.is_boolean() && found.get<bool>();
    OnFound(is_there ? Json::array() : Json("nothing matches the selector"));
  });
}

// The document may go between the question and its answer: then the next one is asked. What was
// asked for a step that has ended meanwhile is passed over.
void PageSteps::Impl::Evaluate(std::string_view script, const std::string& selector,
                               std::function<void(const Json& found)> found) {
  std::string expression = fmt::format("(() => {{ const selector = {}, value = {}; {} {} }})()",
                                       base::DumpJson(Json(selector)),
                                       base::DumpJson(Json(step().value)), kLook, script);
  page.ask("Page.createIsolatedWorld", {{"frameId", page.main_frame}, {"worldName", "vedette"}},
           [this, asked_at = at, expression = std::move(expression),
            found = std::move(found)](const Answer& made) {
             if (at != asked_at || !IsLooking()) return;
             const auto world = made.result.find("executionContextId");
             if (!made.error.empty() || world == made.result.end()) return look.Start(kLookEvery);
             page.ask("Runtime.evaluate",
                      {{"expression", expression},
                       {"contextId", *world},
                       {"returnByValue", true},
                       {"silent", true},
                       {"timeout", kAskMax.count()}},
                      [this, asked_at, found](const Answer& answer) {
                        if (at == asked_at && IsLooking()) OnEvaluated(answer, found);
                      });
           });
}

void PageSteps::Impl::OnEvaluated(const Answer& answer,
                                  const std::function<void(const Json& found)>& found) {
  const auto fault = answer.result.find("exceptionDetails");
  if (fault != answer.result.end()) {
    const auto exception = fault->find("exception");
    if (exception != fault->end() && TextMember(*exception, "className") == "DOMException") {
      return Fail("it has a selector that the browser does not know; mend it");
    }
    return look.Start(kLookEvery);
  }
  const auto result = answer.result.find("result");
  if (result == answer.result.end() || !result->contains("value")) return look.Start(kLookEvery);
  found(result->at("value"));
}

void PageSteps::Impl::OnFound(const Json& found) {
  if (!found.is_array()) {
    in_the_way = found.is_string() ? found.get<std::string>() : "the page does not answer";
    return look.Start(kLookEvery);
  }
  limit.Stop();
  state = State::kActs;
  if (step().kind == Kind::kClick) return Click(found);
  if (step().kind == Kind::kFill) return Type(found);
  EndStep();
}

void PageSteps::Impl::Click(const Json& place) {
  Send({{"Input.dispatchMouseEvent", MouseEvent("mouseMoved", place)},
        {"Input.dispatchMouseEvent", MouseEvent("mousePressed", place)},
        {"Input.dispatchMouseEvent", MouseEvent("mouseReleased", place)}},
       0);
}

void PageSteps::Impl::Type(const Json& found) {
  if (found == Json::array({"set"})) return EndStep();
  if (step().value.empty()) return Press("Backspace");  // what the field had is selected
  Send({{"Input.insertText", Json::object({{"text", step().value}})}}, 0);
}

void PageSteps::Impl::Press(std::string_view key) {
  limit.Stop();
  state = State::kActs;
  Send({{"Input.dispatchKeyEvent", KeyEvent(key, true)},
        {"Input.dispatchKeyEvent", KeyEvent(key, false)}},
       0);
}

// One after the other. An error is of a page that has gone by then, which the next step sees.
void PageSteps::Impl::Send(std::vector<std::pair<std::string_view, Json>> commands,
                           std::size_t from) {
  if (from == commands.size()) return EndStep();
  const std::string_view method = commands[from].first;
  Json params = std::move(commands[from].second);
  page.ask(method, std::move(params),
           [this, commands = std::move(commands), from](const Answer&) mutable {
             Send(std::move(commands), from + 1);
           });
}

void PageSteps::Impl::Go() {
  limit.Stop();
  state = State::kActs;
  const std::string& url = step().target == domain::kRowPage ? page.url : step().target;
  page.ask("Page.navigate", {{"url", url}}, [this](const Answer& answer) {
    const std::string error =
        answer.error.empty() ? TextMember(answer.result, "errorText") : answer.error;
    if (error.empty()) return EndStep();
    Stop();
    page.not_reached(error);
  });
}

void PageSteps::Impl::Scroll() {
  Evaluate(kScroll, "", [this](const Json& found) { OnScrolled(found); });
}

void PageSteps::Impl::OnScrolled(const Json& found) {
  if (!found.is_array() || found.size() != 2) return look.Start(kLookEvery);
  if (found[0] != Json(true)) return look.Start(kScrollPause);
  if (last_end == found[1]) {
    limit.Stop();
    state = State::kActs;
    return EndStep();
  }
  // More may come where the end is reached.
  last_end = found[1];
  Settle([this] {
    state = State::kLooks;
    Scroll();
  });
}

void PageSteps::Impl::OnLimit() {
  if (step().kind != Kind::kScrollToEnd) {
    return Fail(in_the_way +
                "; mend the step, or give it an `if` where it is not needed each time");
  }
  state = State::kActs;
  EndStep();
}

void PageSteps::Impl::EndStep() {
  limit.Stop();
  look.Stop();
  settle.Stop();
  then = nullptr;
  const Kind kind = step().kind;
  if (++at == steps.size()) {
    Stop();
    return page.done();
  }
  if (!MayChangePage(kind)) return BeginStep();
  Settle([this] { BeginStep(); });
}

void PageSteps::Impl::Fail(std::string why) {
  Stop();
  page.failed(std::move(why));
}

void PageSteps::Impl::Stop() {
  state = State::kEnded;
  then = nullptr;
  settle.Stop();
  look.Stop();
  limit.Stop();
}

PageSteps::PageSteps(base::EventLoop& loop, std::vector<PageStep> steps, Page page)
    : impl_(std::make_unique<Impl>(loop, std::move(steps), std::move(page))) {}

PageSteps::~PageSteps() = default;

void PageSteps::Begin() {
  impl_->Settle([impl = impl_.get()] { impl->BeginStep(); });
  impl_->state = Impl::State::kLoads;
}

void PageSteps::OnQuiet() {
  impl_->OnSettled();
}

void PageSteps::Stop() {
  impl_->Stop();
}

int PageSteps::step() const {
  return static_cast<int>(std::min(impl_->at, impl_->steps.size() - 1));
}

std::string PageSteps::Name() const {
  if (impl_->state == Impl::State::kLoads) return "";
  const PageStep& now = impl_->steps[static_cast<std::size_t>(step())];
  const std::string shown =
      now.target.empty()
          ? ""
          : " " + base::DumpJson(base::CutCharacters(now.target, kShownCharactersMax));
  return fmt::format("probe.steps[{}] ({}{})", step(), domain::StepName(now.kind), shown);
}

}  // namespace vedette::net
