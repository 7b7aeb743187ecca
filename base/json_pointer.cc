#include "base/json_pointer.h"
#include "base/json.h"

#include <charconv>
#include <utility>

namespace vedette::base {
namespace {

// "~1" is a slash, "~0" a tilde.
std::optional<std::string> Unescape(std::string_view token) {
  std::string text;
  for (std::size_t i = 0; i < token.size(); ++i) {
    if (token[i] != '~') {
      text += token[i];
      continue;
    }
    ++i;
    if (i == token.size() || (token[i] != '0' && token[i] != '1')) return std::nullopt;
    text += token[i] == '0' ? '~' : '/';
  }
  return text;
}

// The place in an array, which is written without leading zeros.
std::optional<std::size_t> Index(const std::string& token) {
  if (token.empty() || (token.size() > 1 && token[0] == '0')) return std::nullopt;
  std::size_t index = 0;
  const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), index);
  if (error != std::errc() || end != token.data() + token.size()) return std::nullopt;
  return index;
}

const Json* Step(const Json& value, const std::string& token) {
  if (value.is_object()) {
    const auto it = value.find(token);
    return it == value.end() ? nullptr : &*it;
  }
  if (!value.is_array()) return nullptr;
  const auto index = Index(token);
  return index && *index < value.size() ? &value[*index] : nullptr;
}

}  // namespace

std::optional<JsonPointer> JsonPointer::Parse(std::string_view text) {
  JsonPointer pointer;
  if (text.empty()) return pointer;
  if (text[0] != '/') return std::nullopt;
  while (!text.empty()) {
    text.remove_prefix(1);
    const std::size_t end = text.find('/');
    auto token = Unescape(text.substr(0, end));
    if (!token) return std::nullopt;
    pointer.tokens_.push_back(std::move(*token));
    text = end == std::string_view::npos ? std::string_view() : text.substr(end);
  }
  return pointer;
}

const Json* JsonPointer::Find(const Json& document) const {
  const Json* value = &document;
  for (const std::string& token : tokens_) {
    value = Step(*value, token);
    if (value == nullptr) return nullptr;
  }
  return value;
}

}  // namespace vedette::base
