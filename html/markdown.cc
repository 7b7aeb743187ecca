#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "html/html_document.h"

namespace vedette::html {
namespace {

// How far the items of a list are moved in by the lists around theirs, at most.
constexpr std::size_t kIndentMax = 8;

std::string_view NameOf(const xmlNode* node) {
  return reinterpret_cast<const char*>(node->name);
}

std::size_t HeadingLevel(std::string_view name) {
  const bool is_heading = name.size() == 2 && name[0] == 'h' && name[1] >= '1' && name[1] <= '6';
  return is_heading ? static_cast<std::size_t>(name[1] - '0') : 0;
}

// Gathers a page's lines from the beginnings and ends of its elements and its texts.
class Lines {
 public:
  void Enter(const xmlNode* node) {
    const std::string_view name = NameOf(node);
    if (name == "br") return EndLine();
    if (name == "img") return AddImage(node);
    if (name == "td" || name == "th") return BeginCell();
    if (name == "pre" || name == "textarea") ++pre_;
    if (name == "ul" || name == "ol") ++lists_;
    if (name == "blockquote") ++quotes_;
    if (IsInlineElement(node)) return;
    EndLine();
    if (name == "hr") AddLine("---");
    if (const std::size_t level = HeadingLevel(name); level > 0) mark_.assign(level, '#') += ' ';
    if (name == "li") mark_ = std::string(2 * Depth(), ' ') + "- ";
  }

  void Leave(const xmlNode* node) {
    const std::string_view name = NameOf(node);
    if (name == "td" || name == "th") return;
    if (name == "pre" || name == "textarea") --pre_;
    if (name == "ul" || name == "ol") --lists_;
    const bool is_quote = name == "blockquote";
    if (!IsInlineElement(node)) {
      EndLine();
      if (name == "li" || HeadingLevel(name) > 0) mark_.clear();
    }
    if (is_quote) --quotes_;
  }

  void AddText(std::string_view text) {
    if (pre_ == 0) {
      line_ += text;
      return;
    }
    for (std::size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
      line_ += text.substr(0, end);
      EndLine();
      text.remove_prefix(end + 1);
    }
    line_ += text;
  }

  std::string Take() {
    EndLine();
    return std::move(out_);
  }

 private:
  std::size_t Depth() const { return std::min(std::max<std::size_t>(lists_, 1) - 1, kIndentMax); }

  void BeginCell() {
    if (!base::FoldSpace(line_).empty()) line_ += " | ";
  }

  void AddImage(const xmlNode* node) {
    const auto alt = NodeText(node, "alt", TextView::kVisible);
    if (alt && !alt->empty()) line_ += "![" + *alt + "]";
  }

  void EndLine() {
    const std::string line = base::FoldSpace(base::RepairUtf8(line_));
    line_.clear();
    if (!line.empty()) AddLine(line);
  }

  void AddLine(std::string_view line) {
    if (!out_.empty()) out_ += '\n';
    if (quotes_ > 0) out_ += "> ";
    out_.append(mark_).append(line);
    mark_.clear();
  }

  std::string out_;
  std::string line_;  // not folded yet
  std::string mark_;  // of the next line
  std::size_t lists_ = 0;
  std::size_t quotes_ = 0;
  std::size_t pre_ = 0;
};

}  // namespace

std::string MarkdownOf(const xmlNode* top) {
  Lines lines;
  const xmlNode* node = top;
  while (node != nullptr) {
    const bool element = node->type == XML_ELEMENT_NODE;
    const bool text = node->type == XML_TEXT_NODE || node->type == XML_CDATA_SECTION_NODE;
    if (element) lines.Enter(node);
    if (text && node->content != nullptr) {
      lines.AddText(reinterpret_cast<const char*>(node->content));
    }
    if (element && !IsHiddenElement(node) && node->children != nullptr) {
      node = node->children;
      continue;
    }
    if (element) lines.Leave(node);
    while (node != top && node->next == nullptr) {
      node = node->parent;
      lines.Leave(node);
    }
    if (node == top) break;
    node = node->next;
  }
  return lines.Take();
}

}  // namespace vedette::html
