#include "net/browser/page_picture.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/crypto.h"

namespace vedette::net {
namespace {

using base::Json;

constexpr int kQuality = 50;          // of 100
constexpr int kHeightMin = 300;       // of a picture that is taken again
constexpr int kOutlineMsMax = 500;    // what drawing the outlines may take
constexpr int kBlankMsMax = 1000;     // and hiding what is secret
constexpr int kElementsMsMax = 2000;  // and listing elements

// Its scripts have run: what it does about the outlines changes nothing that was read.
constexpr const char* kOutlineScript = R"((outlined => {
  for (const {xpath, selector} of outlined) {
    try {
      const found = xpath ? document.evaluate(selector, document, null, 9, null).singleNodeValue : document.querySelector(selector);
      const element = found && (found.style ? found : found.parentElement || found.ownerElement);
      if (!element) continue;
      element.style.setProperty('outline', '3px solid #d6336c', 'important');
      element.style.setProperty('outline-offset', '2px', 'important');
    } catch {}
  }
}))";

// A field is emptied, and what its page may write there again is not drawn.
constexpr const char* kBlankScript = R"js((secrets => {
  const hides = text => secrets.some(secret => text && text.includes(secret));
  const masked = text => secrets.reduce((left, secret) => left.split(secret).join('***'), text);
  const hide = element => {
    for (const [name, value] of [['color', 'transparent'], ['-webkit-text-fill-color', 'transparent'], ['text-shadow', 'none']]) {
      element.style.setProperty(name, value, 'important');
    }
  };
  const blank = root => {
    for (const element of root.querySelectorAll('*')) {
      if (element.shadowRoot) blank(element.shadowRoot);
      if (element.localName === 'iframe' || element.localName === 'frame') {
        if (element.contentDocument) blank(element.contentDocument);
        else element.style.setProperty('visibility', 'hidden', 'important');
      }
      const typed = element.localName === 'input' || element.localName === 'textarea';
      if (typed && (element.type === 'password' || hides(element.value))) {
        element.value = '';
        hide(element);
      }
      if (hides(element.placeholder)) element.placeholder = '';
    }
    const texts = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      if (hides(texts.currentNode.data)) texts.currentNode.data = masked(texts.currentNode.data);
    }
    if (root.body && hides(root.body.innerText)) hide(root.body);
  };
  blank(document);
  return true;
}))js";

// A selector names what seldom changes: an id, an attribute that is meant to name, a class that a
// person wrote; else the place among its siblings below such an element.
constexpr const char* kElementsScript = R"js((elementsMax, selectorMax, widthMax, heightMax) => {
  const all = [...document.querySelectorAll('body, body *')].slice(0, 20000);
  const names = ['data-testid', 'data-test', 'data-test-id', 'data-qa', 'data-cy', 'itemprop', 'name', 'aria-label'];
  const made = word => /\d{3,}|^[a-z]*[-_]?[0-9a-f]{6,}$|__|--[0-9a-z]{4,}$|^css-|^sc-|^jsx-/i.test(word);
  const simple = word => /^[a-z_][\w-]*$/i.test(word) && word.length <= 60 && !made(word);
  const counts = new Map();
  const ownNames = element => {
    const tag = element.localName;
    if (!/^[a-z][a-z0-9-]*$/.test(tag)) return [];
    const own = [];
    if (simple(element.id)) own.push('#' + element.id);
    for (const name of names) {
      const value = element.getAttribute(name);
      if (value && value.length <= 80 && !/["\\\n\r]/.test(value)) own.push(`${tag}[${name}="${value}"]`);
    }
    const classes = [...element.classList].filter(simple);
    for (const one of classes) own.push('.' + one, `${tag}.${one}`);
    if (classes.length > 1) own.push(`${tag}.${classes.slice(0, 3).join('.')}`);
    return own;
  };
  const own = new Map();
  for (const element of document.querySelectorAll('*')) {
    const list = ownNames(element);
    own.set(element, list);
    for (const name of list) counts.set(name, (counts.get(name) || 0) + 1);
  }
  const known = new Map();
  const selectorOf = element => {
    if (known.has(element)) return known.get(element);
    let selector = (own.get(element) || []).find(name => counts.get(name) === 1);
    if (!selector && element === document.body) selector = 'body';
    if (!selector && element.parentElement && /^[a-z][a-z0-9-]*$/.test(element.localName)) {
      const above = selectorOf(element.parentElement);
      const alike = [...element.parentElement.children].filter(e => e.localName === element.localName);
      const step = alike.length === 1 ? element.localName : `${element.localName}:nth-of-type(${alike.indexOf(element) + 1})`;
      selector = above && `${above} > ${step}`;
    }
    if (selector && selector.length > selectorMax) selector = '';
    known.set(element, selector || '');
    return selector || '';
  };
  const listed = [];
  for (const element of all) {
    if (listed.length >= elementsMax) break;
    const box = element.getBoundingClientRect();
    const [x, y] = [Math.round(box.left + scrollX), Math.round(box.top + scrollY)];
    if (box.width < 4 || box.height < 4 || x >= widthMax || y >= heightMax || x + box.width <= 0 || y + box.height <= 0) continue;
    if (getComputedStyle(element).visibility !== 'visible') continue;
    const selector = selectorOf(element);
    if (!selector) continue;
    const text = element.textContent.slice(0, 400).replace(/\s+/g, ' ').trim().slice(0, 60);
    listed.push([x, y, Math.round(box.width), Math.round(box.height), selector, text]);
  }
  return JSON.stringify(listed);
})js";

std::string ScriptOf(const std::vector<Outlined>& outlined) {
  Json list = Json::array();
  for (const Outlined& one : outlined) {
    list.push_back({{"xpath", one.is_xpath}, {"selector", one.selector}});
  }
  return kOutlineScript + ("(" + base::DumpJson(list) + ")");
}

int Number(const Json& object, const char* name, int otherwise) {
  const auto it = object.find(name);
  if (it == object.end() || !it->is_number()) return otherwise;
  return static_cast<int>(std::clamp(it->get<double>(), 1.0, 1e6));
}

// The protocol has Base64 as RFC 4648, section 4, writes it.
std::optional<std::string> FromBase64(std::string text) {
  std::replace(text.begin(), text.end(), '+', '-');
  std::replace(text.begin(), text.end(), '/', '_');
  while (text.ends_with('=')) text.pop_back();
  return base::Base64UrlDecode(text);
}

}  // namespace

void PagePicture::Ask(std::string_view method, Json params,
                      std::function<void(const BrowserProcess::Answer& answer)> then) {
  browser_.Send(
      method, std::move(params), session_,
      [weak = weak_from_this(), then = std::move(then)](const BrowserProcess::Answer& answer) {
        if (const auto self = weak.lock()) then(answer);
      });
}

void PagePicture::Take(PictureOrder order, std::function<void(Picture picture)> done) {
  order_ = std::move(order);
  done_ = std::move(done);
  if (order_.outlined.empty() && secrets_.empty() && !order_.lists_elements) return Measure();
  Ask("Page.createIsolatedWorld", {{"frameId", frame_}, {"worldName", "vedette"}},
      [this, script = ScriptOf(order_.outlined)](const BrowserProcess::Answer& made) {
        const auto world = made.result.find("executionContextId");
        if (world != made.result.end()) return Blank(*world, script);
        if (secrets_.empty()) return Measure();
        std::exchange(done_, {})(Picture{});
      });
}

void PagePicture::Blank(const Json& world, const std::string& outlines) {
  if (secrets_.empty()) return Outline(world, outlines);
  Ask("Runtime.evaluate",
      {{"expression", kBlankScript + ("(" + base::DumpJson(Json(secrets_)) + ")")},
       {"contextId", world},
       {"returnByValue", true},
       {"silent", true},
       {"timeout", kBlankMsMax}},
      [this, world, outlines](const BrowserProcess::Answer& answer) {
        const auto result = answer.result.find("result");
        const bool hidden = result != answer.result.end() && result->is_object() &&
                            result->value("value", Json()) == Json(true);
        if (hidden) return Outline(world, outlines);
        std::exchange(done_, {})(Picture{});
      });
}

void PagePicture::Outline(const Json& world, const std::string& script) {
  Ask("Runtime.evaluate",
      {{"expression", script}, {"contextId", world}, {"silent", true}, {"timeout", kOutlineMsMax}},
      [this, world](const BrowserProcess::Answer&) {
        if (!order_.lists_elements) return Measure();
        ListElements(world);
      });
}

// A page whose elements cannot be listed in time has its picture all the same.
void PagePicture::ListElements(const Json& world) {
  const std::string script =
      fmt::format("({})({}, {}, {}, {})", kElementsScript, kPictureElementsMax,
                  kElementSelectorCharsMax, kPictureWidthMax, kPictureHeightMax);
  Ask("Runtime.evaluate",
      {{"expression", script},
       {"contextId", world},
       {"returnByValue", true},
       {"silent", true},
       {"timeout", kElementsMsMax}},
      [this](const BrowserProcess::Answer& answer) {
        const auto result = answer.result.find("result");
        if (result != answer.result.end()) elements_ = TextMember(*result, "value");
        Measure();
      });
}

void PagePicture::Measure() {
  Ask("Page.getLayoutMetrics", Json::object(), [this](const BrowserProcess::Answer& answer) {
    const auto size = answer.result.find("cssContentSize");
    if (size == answer.result.end() || !size->is_object())
      return std::exchange(done_, {})(Picture{});
    Capture(std::min(Number(*size, "width", kPictureWidthMax), kPictureWidthMax),
            std::min(Number(*size, "height", kHeightMin), kPictureHeightMax));
  });
}

void PagePicture::Capture(int width, int height) {
  Json clip = {{"x", 0}, {"y", 0}, {"width", width}, {"height", height}, {"scale", 1}};
  Ask("Page.captureScreenshot",
      {{"format", "webp"},
       {"quality", kQuality},
       {"captureBeyondViewport", true},
       {"optimizeForSpeed", true},
       {"clip", std::move(clip)}},
      [this, width, height](const BrowserProcess::Answer& answer) {
        auto file = FromBase64(TextMember(answer.result, "data"));
        if (file && file->size() > kPictureBytesMax) {
          if (height / 2 >= kHeightMin) return Capture(width, height / 2);
          file.reset();
        }
        std::exchange(done_, {})({std::move(file).value_or(""), std::move(elements_)});
      });
}

}  // namespace vedette::net
