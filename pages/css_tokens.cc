#include "pages/css_tokens.h"

#include <cstdint>

#include "base/text.h"

namespace vedette::pages {
namespace {

bool IsSpace(char c) {
  return base::IsSpace(c, base::kMarkupSpace);
}
bool IsNewline(char c) {
  return c == '\r' || c == '\n' || c == '\f';
}
bool IsHex(char c) {
  return base::IsAsciiDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}
bool IsNameStart(char c) {
  return base::IsAsciiLetter(c) || c == '_' || (c & 0x80) != 0;
}
bool IsNameChar(char c) {
  return IsNameStart(c) || base::IsAsciiDigit(c) || c == '-';
}

class Tokenizer {
 public:
  explicit Tokenizer(std::string_view source) : source_(source) {}

  std::optional<CssTokenError> Run(std::vector<CssToken>* tokens) {
    while (at_ < source_.size()) {
      const std::size_t position = Position();
      if (source_.substr(at_, 2) == "/*") {
        const auto end = source_.find("*/", at_ + 2);
        at_ = end == std::string_view::npos ? source_.size() : end + 2;
        continue;
      }
      CssToken token{CssToken::Kind::kDelim, {}, position};
      const char c = source_[at_];
      if (IsSpace(c)) {
        while (at_ < source_.size() && IsSpace(source_[at_])) ++at_;
        token.kind = CssToken::Kind::kSpace;
      } else if (AtIdent()) {
        token.kind = CssToken::Kind::kIdent;
        token.text = Name();
      } else if (c == '#' && AtNameChar(at_ + 1)) {
        ++at_;
        token.kind = CssToken::Kind::kHash;
        token.text = Name();
      } else if (c == '"' || c == '\'') {
        token.kind = CssToken::Kind::kString;
        if (!String(&token.text)) return CssTokenError{"the string is not closed", position};
      } else if (NumberLength() > 0) {
        token.kind = CssToken::Kind::kNumber;
        token.text = source_.substr(at_, NumberLength());
        at_ += token.text.size();
      } else {
        token.text = c;
        ++at_;
      }
      tokens->push_back(std::move(token));
    }
    tokens->push_back({CssToken::Kind::kEnd, {}, Position()});
    return std::nullopt;
  }

 private:
  std::size_t Position() {
    for (; counted_ < at_; ++counted_) {
      if (!base::ContinuesCharacter(source_[counted_])) ++characters_;
    }
    return characters_ + 1;
  }

  char Peek(std::size_t i) const { return i < source_.size() ? source_[i] : '\0'; }

  bool AtEscape(std::size_t i) const {
    return Peek(i) == '\\' && i + 1 < source_.size() && !IsNewline(source_[i + 1]);
  }
  bool AtNameChar(std::size_t i) const { return IsNameChar(Peek(i)) || AtEscape(i); }

  bool AtIdent() const {
    const std::size_t i = at_ + (source_[at_] == '-' ? 1 : 0);
    return IsNameStart(Peek(i)) || AtEscape(i);
  }

  std::string Name() {
    std::string name;
    while (AtNameChar(at_)) {
      if (source_[at_] == '\\') {
        Escape(&name);
      } else {
        name += source_[at_++];
      }
    }
    return name;
  }

  // A backslash and what it escapes: up to six hex digits and one white space, or one character.
  void Escape(std::string* out) {
    ++at_;
    if (!IsHex(Peek(at_))) {
      *out += source_[at_++];
      return;
    }
    std::uint32_t code = 0;
    for (int i = 0; i < 6 && IsHex(Peek(at_)); ++i) {
      const char c = source_[at_++];
      code = code * 16 +
             static_cast<std::uint32_t>(base::IsAsciiDigit(c) ? c - '0' : (c | 0x20) - 'a' + 10);
    }
    if (source_.substr(at_, 2) == "\r\n") {
      at_ += 2;
    } else if (IsSpace(Peek(at_))) {
      ++at_;
    }
    base::AppendUtf8(code, out);
  }

  bool String(std::string* out) {
    const char quote = source_[at_++];
    while (at_ < source_.size() && !IsNewline(source_[at_])) {
      if (source_[at_] == quote) {
        ++at_;
        return true;
      }
      if (source_[at_] != '\\') {
        *out += source_[at_++];
      } else if (at_ + 1 < source_.size() && IsNewline(source_[at_ + 1])) {
        at_ += source_.substr(at_ + 1, 2) == "\r\n" ? 3 : 2;
      } else if (AtEscape(at_)) {
        Escape(out);
      } else {
        return false;
      }
    }
    return false;
  }

  std::size_t NumberLength() const {
    std::size_t i = at_;
    if (Peek(i) == '+' || Peek(i) == '-') ++i;
    const std::size_t digits = i;
    while (base::IsAsciiDigit(Peek(i))) ++i;
    if (Peek(i) == '.' && base::IsAsciiDigit(Peek(i + 1))) {
      ++i;
      while (base::IsAsciiDigit(Peek(i))) ++i;
    }
    return i == digits ? 0 : i - at_;
  }

  std::string_view source_;
  std::size_t at_ = 0;
  std::size_t counted_ = 0;
  std::size_t characters_ = 0;
};

}  // namespace

std::optional<CssTokenError> TokenizeCss(std::string_view source, std::vector<CssToken>* tokens) {
  return Tokenizer(source).Run(tokens);
}

}  // namespace vedette::pages
