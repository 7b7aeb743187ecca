#include "pages/tag_scan.h"

#include <algorithm>

#include "base/text.h"

namespace vedette::pages {
namespace {

// Names longer than this are cut in two by libxml2 (HTML_PARSER_BUFFER_SIZE).
constexpr std::size_t kNameCharsMax = 100;

bool IsNameChar(char c) {
  return base::IsAsciiLetter(c) || base::IsAsciiDigit(c) || c == ':' || c == '-' || c == '_' ||
         c == '.';
}
bool IsNameStart(char c) {
  return base::IsAsciiLetter(c) || c == '_' || c == ':' || c == '.';
}

// Walks one tag as htmlParseStartElement does.
class Tag {
 public:
  Tag(std::string_view text, std::size_t at) : text_(text), at_(at) {}

  std::size_t CountAttributes() {
    Name();
    SkipBlanks();
    while (!AtTagEnd() && count_ <= kHtmlAttributesMax) {
      if (IsNameStart(text_[at_])) {
        Attribute();
      } else {
        while (!AtTagEnd() && !base::IsSpace(text_[at_], base::kLineSpace)) ++at_;
      }
      SkipBlanks();
    }
    return count_;
  }

  std::size_t end() const { return at_; }

 private:
  bool AtTagEnd() const {
    return at_ >= text_.size() || text_[at_] == '>' || text_.substr(at_, 2) == "/>";
  }
  void SkipBlanks() {
    while (at_ < text_.size() && base::IsSpace(text_[at_], base::kLineSpace)) ++at_;
  }
  std::size_t Name() {
    const std::size_t start = at_;
    while (at_ < text_.size() && IsNameChar(text_[at_])) ++at_;
    return at_ - start;
  }
  void Attribute() {
    count_ += 1 + Name() / kNameCharsMax;
    SkipBlanks();
    if (at_ >= text_.size() || text_[at_] != '=') return;
    ++at_;
    SkipBlanks();
    if (at_ >= text_.size()) return;
    const char quote = text_[at_];
    if (quote == '"' || quote == '\'') {
      at_ = std::min(text_.find(quote, at_ + 1), text_.size() - 1) + 1;
      return;
    }
    while (at_ < text_.size() && !base::IsSpace(text_[at_], base::kLineSpace) && text_[at_] != '>')
      ++at_;
  }

  std::string_view text_;
  std::size_t at_;
  std::size_t count_ = 0;
};

}  // namespace

bool AttributesAreFew(std::string_view text) {
  // Tags seem to lie inside tags where quotes hide one from the other; each is walked on its own.
  std::size_t work_left = 16 * text.size() + 1'000'000;
  for (auto at = text.find('<'); at != std::string_view::npos; at = text.find('<', at + 1)) {
    if (at + 1 >= text.size() || !base::IsAsciiLetter(text[at + 1])) continue;
    Tag tag(text, at + 1);
    if (tag.CountAttributes() > kHtmlAttributesMax) return false;
    const std::size_t work = tag.end() - at;
    if (work > work_left) return false;
    work_left -= work;
  }
  return true;
}

}  // namespace vedette::pages
