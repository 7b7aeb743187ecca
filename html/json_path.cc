#include "html/json_path.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/json.h"
#include "base/text.h"

namespace vedette::html {

// The largest integer that RFC 9535 allows (I-JSON).
constexpr std::int64_t kIntegerMax = 9'007'199'254'740'991;

class JsonPathParser {
 public:
  explicit JsonPathParser(std::string_view text) : text_(text) {}

  std::variant<JsonPath, SelectorSyntaxError> Run() {
    if (text_.size() > kJsonPathBytesMax) {
      Fail(fmt::format("the path is longer than {} bytes", kJsonPathBytesMax));
    } else if (!Take('$')) {
      Fail("a JSON path begins with $, as in $.price");
    } else {
      while (!error_ && at_ < text_.size()) Segment();
    }
    if (error_) return *error_;
    return std::move(path_);
  }

 private:
  bool Take(char c) {
    if (Peek() != c) return false;
    ++at_;
    return true;
  }
  char Peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void SkipSpace() {
    while (Peek() == ' ' || Peek() == '\t' || Peek() == '\n' || Peek() == '\r') ++at_;
  }
  bool Fail(std::string message) {
    if (!error_) {
      error_ =
          SelectorSyntaxError{std::move(message), base::CountCharacters(text_.substr(0, at_)) + 1};
    }
    return false;
  }
  bool Unexpected(std::string_view expected) {
    if (at_ >= text_.size()) return Fail(fmt::format("expected {}, got the end", expected));
    return Fail(fmt::format("expected {}, got '{}'", expected,
                            base::CutCharacters(base::RepairUtf8(text_.substr(at_)), 12)));
  }

  void Segment() {
    SkipSpace();
    if (at_ >= text_.size()) return static_cast<void>(Unexpected("a segment"));
    if (path_.segments_.size() == kJsonPathSegmentsMax) {
      Fail(fmt::format("the path has more than {} segments", kJsonPathSegmentsMax));
      return;
    }
    JsonPath::Segment segment;
    bool shorthand = false;
    if (text_.substr(at_, 2) == "..") {
      at_ += 2;
      segment.descendant = true;
      shorthand = Peek() != '[';
    } else if (Take('.')) {
      shorthand = true;
    }
    if (shorthand ? Shorthand(&segment) : Brackets(&segment)) {
      path_.segments_.push_back(std::move(segment));
    }
  }

  bool Shorthand(JsonPath::Segment* segment) {
    if (Take('*')) {
      segment->choices.emplace_back(JsonPath::Wildcard{});
      return true;
    }
    const std::size_t start = at_;
    while (IsNameChar(Peek(), at_ == start)) ++at_;
    if (at_ == start) return Unexpected("a name or *");
    segment->choices.emplace_back(std::string(text_.substr(start, at_ - start)));
    return true;
  }

  static bool IsNameChar(char c, bool first) {
    const bool letter = base::IsAsciiLetter(c) || c == '_' || (c & 0x80);
    return letter || (!first && c >= '0' && c <= '9');
  }

  bool Brackets(JsonPath::Segment* segment) {
    if (!Take('[')) return Unexpected("'.' or '['");
    do {
      SkipSpace();
      if (!Choice(segment)) return false;
      SkipSpace();
    } while (Take(','));
    return Take(']') || Unexpected("',' or ']'");
  }

  bool Choice(JsonPath::Segment* segment) {
    const char c = Peek();
    if (c == '?') return Fail("filters ([?...]) are not supported");
    if (c == '(') return Fail("expressions are not supported");
    if (Take('*')) {
      segment->choices.emplace_back(JsonPath::Wildcard{});
      return true;
    }
    if (c == '"' || c == '\'') {
      std::string name;
      if (!String(&name)) return false;
      segment->choices.emplace_back(std::move(name));
      return true;
    }
    return IndexOrSlice(segment);
  }

  bool IndexOrSlice(JsonPath::Segment* segment) {
    std::optional<std::int64_t> first;
    if (!OptionalInteger(&first)) return false;
    SkipSpace();
    if (!Take(':')) {
      if (!first) return Unexpected("a name in quotes, an index, a slice or *");
      segment->choices.emplace_back(*first);
      return true;
    }
    JsonPath::Slice slice{first, std::nullopt, 1};
    SkipSpace();
    if (!OptionalInteger(&slice.end)) return false;
    SkipSpace();
    if (Take(':')) {
      SkipSpace();
      std::optional<std::int64_t> step;
      if (!OptionalInteger(&step)) return false;
      slice.step = step.value_or(1);
    }
    segment->choices.emplace_back(slice);
    return true;
  }

  bool OptionalInteger(std::optional<std::int64_t>* out) {
    const char c = Peek();
    if (c != '-' && !(c >= '0' && c <= '9')) return true;
    std::int64_t value = 0;
    const char* begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (error != std::errc() || value > kIntegerMax || value < -kIntegerMax) {
      return Fail("the number is not an integer that JSON knows");
    }
    const std::string_view digits(begin, static_cast<std::size_t>(end - begin));
    if (digits == "-0" || (digits.size() > 1 && digits[digits[0] == '-' ? 1 : 0] == '0')) {
      return Fail("an integer has no leading zero");
    }
    at_ += digits.size();
    *out = value;
    return true;
  }

  // A string in either quote, with JSON's escapes.
  bool String(std::string* out) {
    const char quote = text_[at_++];
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == quote) {
        ++at_;
        return true;
      }
      if (static_cast<unsigned char>(c) < 0x20) return Fail("a control character in a name");
      ++at_;
      if (c != '\\') {
        *out += c;
      } else if (!Escape(quote, out)) {
        return false;
      }
    }
    return Fail("the name is not closed");
  }

  bool Escape(char quote, std::string* out) {
    const char c = Peek();
    constexpr std::string_view kFrom = "bfnrt/\\";
    constexpr std::string_view kTo = "\b\f\n\r\t/\\";
    if (const auto i = kFrom.find(c); i != std::string_view::npos && at_ < text_.size()) {
      ++at_;
      *out += kTo[i];
      return true;
    }
    if (c == quote) {
      ++at_;
      *out += c;
      return true;
    }
    std::uint32_t code = 0;
    if (c != 'u' || !Hex4(&code)) return Fail("an escape that JSON does not know");
    if (code >= 0xD800 && code < 0xDC00 && text_.substr(at_, 2) == "\\u") {
      ++at_;
      std::uint32_t low = 0;
      if (!Hex4(&low) || low < 0xDC00 || low > 0xDFFF) return Fail("a lone surrogate");
      code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    } else if (code >= 0xD800 && code <= 0xDFFF) {
      return Fail("a lone surrogate");
    }
    base::AppendUtf8(code, out);
    return true;
  }

  // 'u' and four hex digits.
  bool Hex4(std::uint32_t* out) {
    const std::string_view digits = text_.substr(std::min(at_ + 1, text_.size()), 4);
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), *out, 16);
    if (error != std::errc() || digits.size() != 4 || end != digits.data() + 4) return false;
    at_ += 5;
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  JsonPath path_;
  std::optional<SelectorSyntaxError> error_;
};

// Depth first: the nodelist of RFC 9535 is the concatenation, in order, of what each segment gives
// for each node, so the first hit of a depth-first search is the list's first node. The recursion
// is bounded by the document's depth and the number of segments.
class JsonPathSearch {
 public:
  explicit JsonPathSearch(const std::vector<JsonPath::Segment>& segments) : segments_(segments) {}

  JsonPath::Found Run(const base::Json& document) {
    const base::Json* found = Visit(document, 0);
    if (gave_up_) return {nullptr, true};
    return {found, false};
  }

 private:
  const base::Json* Visit(const base::Json& node, std::size_t i) {
    if (i == segments_.size()) return &node;
    if (++visits_ > kJsonPathVisitsMax) gave_up_ = true;
    if (gave_up_) return nullptr;
    const JsonPath::Segment& segment = segments_[i];
    for (const auto& choice : segment.choices) {
      if (const base::Json* found = Choose(node, choice, i)) return found;
    }
    if (!segment.descendant || !node.is_structured()) return nullptr;
    for (const base::Json& child : node) {
      if (const base::Json* found = Visit(child, i)) return found;
    }
    return nullptr;
  }

  const base::Json* Choose(const base::Json& node, const JsonPath::Choice& choice, std::size_t i) {
    if (const auto* name = std::get_if<std::string>(&choice)) {
      if (!node.is_object()) return nullptr;
      const auto member = node.find(*name);
      return member == node.end() ? nullptr : Visit(*member, i + 1);
    }
    if (const auto* index = std::get_if<std::int64_t>(&choice)) {
      if (!node.is_array()) return nullptr;
      const auto size = static_cast<std::int64_t>(node.size());
      const std::int64_t at = *index < 0 ? size + *index : *index;
      return at < 0 || at >= size ? nullptr : Visit(node[static_cast<std::size_t>(at)], i + 1);
    }
    if (const auto* slice = std::get_if<JsonPath::Slice>(&choice)) {
      return node.is_array() ? Sliced(node, *slice, i) : nullptr;
    }
    if (!node.is_structured()) return nullptr;
    for (const base::Json& child : node) {
      if (const base::Json* found = Visit(child, i + 1)) return found;
    }
    return nullptr;
  }

  // RFC 9535, 2.3.4.2.2.
  const base::Json* Sliced(const base::Json& node, const JsonPath::Slice& slice, std::size_t i) {
    const auto size = static_cast<std::int64_t>(node.size());
    if (slice.step == 0) return nullptr;
    const bool forward = slice.step > 0;
    const auto normal = [&](std::int64_t at) { return at >= 0 ? at : size + at; };
    const std::int64_t start = normal(slice.start.value_or(forward ? 0 : size - 1));
    const std::int64_t end = slice.end ? normal(*slice.end) : (forward ? size : -1);
    if (forward) {
      const std::int64_t upper = std::clamp<std::int64_t>(end, 0, size);
      for (std::int64_t at = std::clamp<std::int64_t>(start, 0, size); at < upper;
           at += slice.step) {
        if (const base::Json* found = Visit(node[static_cast<std::size_t>(at)], i + 1))
          return found;
      }
      return nullptr;
    }
    const std::int64_t lower = std::clamp<std::int64_t>(end, -1, size - 1);
    for (std::int64_t at = std::clamp<std::int64_t>(start, -1, size - 1); at > lower;
         at += slice.step) {
      if (const base::Json* found = Visit(node[static_cast<std::size_t>(at)], i + 1)) return found;
    }
    return nullptr;
  }

  const std::vector<JsonPath::Segment>& segments_;
  std::size_t visits_ = 0;
  bool gave_up_ = false;
};

std::variant<JsonPath, SelectorSyntaxError> JsonPath::Parse(std::string_view text) {
  return JsonPathParser(text).Run();
}

JsonPath::Found JsonPath::First(const base::Json& document) const {
  return JsonPathSearch(segments_).Run(document);
}

}  // namespace vedette::html
