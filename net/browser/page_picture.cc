#include "net/browser/page_picture.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/crypto.h"

namespace vedette::net {
namespace {

using base::Json;

constexpr int kQuality = 50;        // of 100
constexpr int kHeightMin = 300;     // of a picture that is taken again
constexpr int kOutlineMsMax = 500;  // what drawing the outlines may take

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

void PagePicture::Take(const std::vector<Outlined>& outlined,
                       std::function<void(std::string file)> done) {
  done_ = std::move(done);
  if (outlined.empty()) return Measure();
  Ask("Page.createIsolatedWorld", {{"frameId", frame_}, {"worldName", "vedette"}},
      [this, script = ScriptOf(outlined)](const BrowserProcess::Answer& made) {
        const auto world = made.result.find("executionContextId");
        if (world == made.result.end()) return Measure();
        Outline(*world, script);
      });
}

void PagePicture::Outline(const Json& world, const std::string& script) {
  Ask("Runtime.evaluate",
      {{"expression", script}, {"contextId", world}, {"silent", true}, {"timeout", kOutlineMsMax}},
      [this](const BrowserProcess::Answer&) { Measure(); });
}

void PagePicture::Measure() {
  Ask("Page.getLayoutMetrics", Json::object(), [this](const BrowserProcess::Answer& answer) {
    const auto size = answer.result.find("cssContentSize");
    if (size == answer.result.end() || !size->is_object()) return std::exchange(done_, {})({});
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
        std::exchange(done_, {})(std::move(file).value_or(""));
      });
}

}  // namespace vedette::net
