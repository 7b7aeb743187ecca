#include "html/rendered_document.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/json.h"
#include "base/text.h"
#include "net/browser/devtools_messages.h"
#include "net/url.h"

namespace vedette::html {
namespace {

using base::Json;
using domain::Failure;

constexpr std::size_t kValuesMax = 4'000'000;
constexpr base::JsonLimits kLimits{64, 1024, kValuesMax};
// Frames inside frames.
constexpr int kFrameDepthMax = 8;

// The numbers of DOM.
enum NodeType { kElement = 1, kText = 3, kCdata = 4, kDoctype = 10, kFragment = 11 };

// Indexes of children and what the browser says of few nodes, for one document.
struct Document {
  const Json* nodes = nullptr;
  std::string origin;
  std::vector<std::vector<int>> children;
  std::vector<int> shadow;   // by node: 1 for a page's shadow root, -1 for a control's
  std::vector<int> content;  // by node: the document of a frame, or -1
};

class Writer {
 public:
  Writer(const Json& result, std::size_t bytes_max)
      : strings_(result.at("strings")), bytes_max_(bytes_max) {
    for (const Json& document : result.at("documents")) documents_.push_back(Read(document));
  }

  // Empty: it is too long.
  std::optional<std::string> Write() {
    if (!documents_.empty()) WriteDocument(0, 0);
    return too_long_ ? std::nullopt : std::optional(std::move(out_));
  }

 private:
  // What is still to be written: a node, or the end of an element.
  struct Step {
    int node;
    std::string end;  // not empty: this text alone
  };

  std::string Text(const Json& index) const {
    const auto at = index.get<std::int64_t>();
    if (at < 0 || static_cast<std::size_t>(at) >= strings_.size()) return "";
    return strings_[static_cast<std::size_t>(at)].get<std::string>();
  }

  Document Read(const Json& json) const {
    Document document;
    document.nodes = &json.at("nodes");
    document.origin = net::OriginOf(Text(json.at("documentURL")));
    const Json& parents = document.nodes->at("parentIndex");
    document.children.resize(parents.size());
    for (std::size_t i = 0; i < parents.size(); ++i) {
      const int parent = parents[i].get<int>();
      // A parent stands before its children, so that nothing is written twice.
      if (parent >= 0 && static_cast<std::size_t>(parent) < i) {
        document.children[static_cast<std::size_t>(parent)].push_back(static_cast<int>(i));
      }
    }
    document.shadow.assign(parents.size(), 0);
    document.content.assign(parents.size(), -1);
    ForRare(document, "shadowRootType", [&](std::size_t node, const Json& value) {
      document.shadow[node] = Text(value) == "user-agent" ? -1 : 1;
    });
    ForRare(document, "contentDocumentIndex", [&](std::size_t node, const Json& value) {
      document.content[node] = value.get<int>();
    });
    return document;
  }

  template <typename F>
  static void ForRare(const Document& document, const char* name, F f) {
    const auto rare = document.nodes->find(name);
    if (rare == document.nodes->end()) return;
    const Json& at = rare->at("index");
    const auto values = rare->find("value");
    if (values == rare->end()) return;
    for (std::size_t i = 0; i < at.size() && i < values->size(); ++i) {
      const auto node = at[i].get<std::size_t>();
      if (node < document.children.size()) f(node, (*values)[i]);
    }
  }

  void WriteDocument(std::size_t index, int depth) {
    const Document& document = documents_[index];
    if (document.children.empty()) return;
    std::vector<Step> steps{{0, ""}};
    while (!steps.empty() && !too_long_) {
      Step step = std::move(steps.back());
      steps.pop_back();
      if (!step.end.empty()) {
        out_ += step.end;
      } else {
        WriteNode(document, static_cast<std::size_t>(step.node), depth, &steps);
      }
      too_long_ = too_long_ || out_.size() > bytes_max_;
    }
  }

  void WriteNode(const Document& document, std::size_t node, int depth, std::vector<Step>* steps) {
    const Json& nodes = *document.nodes;
    switch (nodes.at("nodeType").at(node).get<int>()) {
      case kDoctype:
        if (depth == 0) out_ += "<!DOCTYPE html>";
        return;
      case kText:
      case kCdata:
        return WriteText(Text(nodes.at("nodeValue").at(node)));
      case kElement:
        return WriteElement(document, node, depth, steps);
      case kFragment:
        if (document.shadow[node] <= 0) return;
        [[fallthrough]];
      default:
        return AddChildren(document, node, "", steps);
    }
  }

  void WriteText(std::string_view text) {
    for (const char c : text) {
      switch (c) {
        case '&':
          out_ += "&amp;";
          break;
        case '<':
          out_ += "&lt;";
          break;
        case '>':
          out_ += "&gt;";
          break;
        case '"':
          out_ += "&quot;";
          break;
        default:
          out_ += c;
      }
    }
  }

  void WriteElement(const Document& document, std::size_t node, int depth,
                    std::vector<Step>* steps) {
    const Json& nodes = *document.nodes;
    const std::string name = base::AsciiLower(Text(nodes.at("nodeName").at(node)));
    // Among the nodes are what styles draw: ::marker, ::before.
    if (name.empty() || name.find_first_of(" \t\r\n<>/\"'&") != std::string::npos) return;
    if (name.starts_with("::")) return;
    const bool is_root = name == "html" || name == "body";
    if (depth > 0 && is_root) return AddChildren(document, node, "", steps);
    if (depth > 0 && name == "head") return;
    out_.append("<").append(name);
    WriteAttributes(nodes.at("attributes").at(node));
    out_ += '>';
    if (IsVoid(name)) return;
    const std::string end = "</" + name + ">";
    if (name == "script" || name == "style") {
      WriteRaw(document, node, end);
    } else if (name == "noscript" || name == "template") {
      out_ += end;
    } else if (document.content[node] >= 0) {
      out_ += end;
      WriteFrame(document, static_cast<std::size_t>(document.content[node]), depth);
    } else {
      AddChildren(document, node, end, steps);
    }
  }

  void WriteAttributes(const Json& attributes) {
    for (std::size_t i = 0; i + 1 < attributes.size(); i += 2) {
      const std::string name = Text(attributes[i]);
      if (name.empty() || name.find_first_of(" \t\r\n<>/\"'&=") != std::string::npos) continue;
      out_.append(" ").append(name).append("=\"");
      WriteText(Text(attributes[i + 1]));
      out_ += '"';
    }
  }

  // Scripts and styles, whose text has no escapes.
  void WriteRaw(const Document& document, std::size_t node, const std::string& end) {
    for (const int child : document.children[node]) {
      const std::string text =
          Text(document.nodes->at("nodeValue").at(static_cast<std::size_t>(child)));
      if (base::AsciiLower(text).find(end.substr(0, end.size() - 1)) == std::string::npos) {
        out_ += text;
      }
    }
    out_ += end;
  }

  // A frame without an address of its own (about:blank, srcdoc) belongs to its document.
  void WriteFrame(const Document& document, std::size_t frame, int depth) {
    if (frame >= documents_.size() || frame == 0 || depth >= kFrameDepthMax) return;
    const std::string& origin = documents_[frame].origin;
    if (!origin.empty() && origin != document.origin) return;
    out_ += "<div>";
    WriteDocument(frame, depth + 1);
    out_ += "</div>";
  }

  static void AddChildren(const Document& document, std::size_t node, const std::string& end,
                          std::vector<Step>* steps) {
    if (!end.empty()) steps->push_back({-1, end});
    const std::vector<int>& children = document.children[node];
    for (auto child = children.rbegin(); child != children.rend(); ++child) {
      steps->push_back({*child, ""});
    }
  }

  static bool IsVoid(std::string_view name) {
    constexpr std::array<std::string_view, 13> kVoid{"area",   "base",  "br",    "col",  "embed",
                                                     "hr",     "img",   "input", "link", "meta",
                                                     "source", "track", "wbr"};
    return std::find(kVoid.begin(), kVoid.end(), name) != kVoid.end();
  }

  const Json& strings_;
  const std::size_t bytes_max_;
  std::vector<Document> documents_;
  std::string out_;
  bool too_long_ = false;
};

Failure Unreadable(std::string_view why) {
  return {"bad_content", fmt::format("The rendered page cannot be read: {}.", why), false, {}};
}

}  // namespace

std::variant<std::string, Failure> RenderedDocument(std::string_view snapshot,
                                                    std::size_t bytes_max) {
  std::string text(snapshot);
  net::MendSurrogates(&text);
  Json answer;
  if (const auto error = base::ParseJson(text, &answer, kLimits)) {
    return Unreadable(error->kind == base::JsonError::Kind::kTooManyValues
                          ? "it has too many nodes"
                          : "the browser's answer is no JSON");
  }
  text.clear();
  const auto result = answer.find("result");
  if (result == answer.end()) return Unreadable("the browser could not read it");
  try {
    std::optional<std::string> written = Writer(*result, bytes_max).Write();
    if (written) return std::move(*written);
  } catch (const Json::exception&) {
    return Unreadable("the browser's answer is not understood");
  }
  return Failure{"body_too_large",
                 fmt::format("The rendered page is larger than {} bytes.", bytes_max),
                 false,
                 {}};
}

}  // namespace vedette::html
