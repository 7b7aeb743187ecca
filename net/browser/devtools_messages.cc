#include "net/browser/devtools_messages.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace vedette::net {
namespace {

// The deepest messages that are parsed are those of errors in scripts.
constexpr base::JsonLimits kLimits{64, 10'000, 200'000};
constexpr std::string_view kAnswerBegin = "{\"id\":";
constexpr std::string_view kReplacement = "\\ufffd";

// "\ud83d" at `at`: the code unit; 0 where there is none.
unsigned UnitAt(std::string_view text, std::size_t at) {
  if (text.size() < at + 6 || text[at] != '\\' || text[at + 1] != 'u') return 0;
  unsigned unit = 0;
  const auto [end, ec] = std::from_chars(text.data() + at + 2, text.data() + at + 6, unit, 16);
  return ec == std::errc() && end == text.data() + at + 6 ? unit : 0;
}

bool IsHigh(unsigned unit) {
  return unit >= 0xD800 && unit < 0xDC00;
}
bool IsLow(unsigned unit) {
  return unit >= 0xDC00 && unit < 0xE000;
}

}  // namespace

std::string TextMember(const base::Json& json, const char* name) {
  const auto it = json.find(name);
  return it != json.end() && it->is_string() ? it->get<std::string>() : "";
}

// What is held is enough to tell answers from events, also of a message that comes byte by byte.
void DevtoolsSplitter::Hold(std::string_view piece) {
  if (cut_) return;
  if (held_.size() < kAnswerBegin.size()) {
    const std::size_t missing = std::min(kAnswerBegin.size() - held_.size(), piece.size());
    held_.append(piece.substr(0, missing));
    piece.remove_prefix(missing);
  }
  const bool is_answer = held_.starts_with(kAnswerBegin);
  const std::size_t max = is_answer ? kDevtoolsBytesMax : kDevtoolsEventBytesMax;
  cut_ = held_.size() + piece.size() > max;
  if (!cut_) held_.append(piece);
}

void DevtoolsSplitter::Add(std::string_view bytes,
                           const std::function<void(std::string message, bool whole)>& message) {
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\0');
    const std::string_view piece = bytes.substr(0, end);
    Hold(piece);
    if (end == std::string_view::npos) return;
    bytes.remove_prefix(end + 1);
    message(std::exchange(held_, {}), !std::exchange(cut_, false));
  }
}

std::optional<std::int64_t> AnswerId(std::string_view message) {
  if (!message.starts_with(kAnswerBegin)) return std::nullopt;
  message.remove_prefix(kAnswerBegin.size());
  std::int64_t id = 0;
  const auto [end, ec] = std::from_chars(message.data(), message.data() + message.size(), id);
  if (ec != std::errc()) return std::nullopt;
  return id;
}

std::string DevtoolsCommand(std::int64_t id, std::string_view method, base::Json params,
                            std::string_view session) {
  base::Json command = {{"id", id}, {"method", method}, {"params", std::move(params)}};
  if (!session.empty()) command["sessionId"] = session;
  return base::DumpJson(command).append(1, '\0');
}

void MendSurrogates(std::string* message) {
  for (std::size_t at = 0; (at = message->find('\\', at)) != std::string::npos;) {
    const unsigned unit = UnitAt(*message, at);
    if (IsHigh(unit) && IsLow(UnitAt(*message, at + kReplacement.size()))) {
      at += 2 * kReplacement.size();
    } else if (IsHigh(unit) || IsLow(unit) || message->compare(at, 6, "\\u0000") == 0) {
      message->replace(at, kReplacement.size(), kReplacement);
      at += kReplacement.size();
    } else {
      at += 2;  // an escape has one more character at least
    }
  }
}

std::optional<DevtoolsMessage> ReadDevtoolsMessage(std::string message) {
  MendSurrogates(&message);
  base::Json json;
  if (base::ParseJson(message, &json, kLimits) || !json.is_object()) return std::nullopt;
  DevtoolsMessage out;
  if (const auto id = json.find("id"); id != json.end() && id->is_number_integer()) {
    out.id = id->get<std::int64_t>();
  }
  out.method = TextMember(json, "method");
  out.session = TextMember(json, "sessionId");
  if (const auto error = json.find("error"); error != json.end() && error->is_object()) {
    out.error = TextMember(*error, "message");
    if (out.error.empty()) out.error = "an error without a message";
  }
  const auto body = json.find(out.id ? "result" : "params");
  out.body = body != json.end() && body->is_object() ? std::move(*body) : base::Json::object();
  return out;
}

}  // namespace vedette::net
