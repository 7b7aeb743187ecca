#include "worker/services/chat_completion.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/json.h"
#include "base/text.h"

namespace vedette::worker {
namespace {

using base::Json;

constexpr std::size_t kStreamEventsMax = 200'000;
constexpr std::size_t kRefusalCharactersMax = 300;

void ReadTokens(const Json& body, ChatTokens* tokens) {
  const Json* usage = base::PresentMember(body, "usage");
  if (usage == nullptr) return;
  const auto count = [&](const char* name) -> std::int64_t {
    const Json* n = base::PresentMember(*usage, name);
    return n != nullptr && n->is_number_integer()
               ? std::max<std::int64_t>(0, n->get<std::int64_t>())
               : 0;
  };
  tokens->prompt = count("prompt_tokens");
  tokens->completion = count("completion_tokens");
}

// `part`: "message" of a whole answer, "delta" of a stream's event.
void ReadChoice(const Json& body, const char* part, ChatCompletion* out) {
  const Json* choices = base::PresentMember(body, "choices");
  if (choices == nullptr || !choices->is_array() || choices->empty()) return;
  const Json& choice = (*choices)[0];
  if (const std::string reason = base::TextMember(choice, "finish_reason"); !reason.empty()) {
    out->finish_reason = reason;
  }
  const Json* message = base::PresentMember(choice, part);
  if (message == nullptr) return;
  out->content += base::TextMember(*message, "content");
  out->refusal += base::TextMember(*message, "refusal");
}

void ReadWhole(std::string_view body, ChatCompletion* out) {
  Json answer;
  if (const auto error = base::ParseJson(body, &answer)) {
    out->fault = fmt::format("the completion is not JSON ({})", error->message);
    return;
  }
  ReadTokens(answer, &out->tokens);
  if (base::PresentMember(answer, "error") != nullptr) {
    out->fault = "it is an error";
  } else if (base::PresentMember(answer, "choices") == nullptr) {
    out->fault = "it has no choices";
  } else {
    ReadChoice(answer, "message", out);
  }
}

// Lines "data: {...}" apart by empty ones, ended by "data: [DONE]".
void ReadStream(std::string_view body, ChatCompletion* out) {
  bool done = false;
  std::size_t events = 0;
  while (!body.empty() && !done) {
    const std::size_t end = std::min(body.find('\n'), body.size());
    std::string_view line = base::Trim(body.substr(0, end));
    body.remove_prefix(std::min(end + 1, body.size()));
    if (!line.starts_with("data:")) continue;
    line = base::Trim(line.substr(5));
    if (line == "[DONE]") {
      done = true;
      continue;
    }
    Json event;
    if (++events > kStreamEventsMax || base::ParseJson(line, &event)) {
      out->fault = "an event of the stream cannot be read";
      return;
    }
    if (base::PresentMember(event, "error") != nullptr) out->fault = "it is an error";
    ReadTokens(event, &out->tokens);
    ReadChoice(event, "delta", out);
  }
  if (!done && out->finish_reason.empty()) out->fault = "the stream ends midway";
}

}  // namespace

ChatCompletion ReadChatCompletion(std::string_view body) {
  ChatCompletion out;
  const std::string_view text = base::Trim(body);
  const bool stream =
      text.starts_with("data:") || text.starts_with("event:") || text.starts_with(":");
  stream ? ReadStream(text, &out) : ReadWhole(text, &out);
  return out;
}

std::string_view WithoutMarkdownFence(std::string_view text) {
  text = base::Trim(text);
  constexpr std::string_view kFence = "```";
  if (!text.starts_with(kFence) || !text.ends_with(kFence)) return text;
  const std::size_t line = text.find('\n');
  if (line == std::string_view::npos || line + kFence.size() > text.size()) return text;
  return base::Trim(text.substr(line + 1, text.size() - kFence.size() - line - 1));
}

std::optional<domain::Failure> RefusalOf(const ChatCompletion& completion) {
  if (completion.refusal.empty() && completion.finish_reason != "content_filter") {
    return std::nullopt;
  }
  const std::string said =
      completion.refusal.empty() ? "content filter" : base::RepairUtf8(completion.refusal);
  return domain::Failure{"refusal",
                         fmt::format("The model refuses to answer: {}",
                                     base::CutCharacters(said, kRefusalCharactersMax)),
                         false,
                         {}};
}

Json ChatMessage(const char* role, std::string content) {
  Json message = Json::object();
  message["role"] = role;
  message["content"] = std::move(content);
  return message;
}

Json ChatResponseFormat(const std::string& format, const char* name, const Json& schema) {
  Json out = Json::object();
  out["type"] = format;
  if (format == "json_schema") {
    out["json_schema"] = {{"name", name}, {"strict", true}, {"schema", schema}};
  }
  return out;
}

std::string CompletionsUrl(std::string base_url) {
  constexpr std::string_view kPath = "/chat/completions";
  while (base_url.ends_with('/')) base_url.pop_back();
  return base_url.ends_with(kPath) ? base_url : base_url.append(kPath);
}

}  // namespace vedette::worker
