#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/json.h"
#include "domain/monitor/failure.h"

// The protocol of OpenAI-compatible chat completions, whatever is asked: requests are made of these
// parts, and answers are read whole or as a stream of server-sent events. Pure.
namespace vedette::worker {

struct ChatTokens {
  std::int64_t prompt = 0;
  std::int64_t completion = 0;
};

// A completion, whichever way it came.
struct ChatCompletion {
  std::string content;
  std::string refusal;
  std::string finish_reason;
  ChatTokens tokens;  // as the server counts them; 0 where it does not
  std::string fault;  // not empty: the body is no completion
};

// Reads the body of a 200.
ChatCompletion ReadChatCompletion(std::string_view body);

// The failure `refusal` of a model that does not answer; empty of one that does.
std::optional<domain::Failure> RefusalOf(const ChatCompletion& completion);

// Servers without structured output let models wrap what they say in a Markdown fence.
std::string_view WithoutMarkdownFence(std::string_view text);

base::Json ChatMessage(const char* role, std::string content);

// The member response_format. `format`: json_schema or json_object; `name`: of the schema.
base::Json ChatResponseFormat(const std::string& format, const char* name,
                              const base::Json& schema);

// The body of a request for one answer that fits `schema`. `model` is the configuration of a probe
// or a provider that asks a model.
template <typename ModelConfig>
std::string ChatRequestBody(const ModelConfig& model, base::Json messages, const char* name,
                            const base::Json& schema) {
  base::Json body = base::Json::object();
  body["model"] = model.model;
  body["messages"] = std::move(messages);
  body["stream"] = false;
  if (model.temperature) body["temperature"] = *model.temperature;
  body[model.tokens_max_field] = model.tokens_max;
  if (model.answer_format != "text") {
    body["response_format"] = ChatResponseFormat(model.answer_format, name, schema);
  }
  return base::DumpJson(body);
}

// The URL to which a model with this base URL is asked.
std::string CompletionsUrl(std::string base_url);

}  // namespace vedette::worker
