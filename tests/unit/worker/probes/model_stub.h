#pragma once

#include <cstddef>
#include <functional>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "tests/unit/worker/probes/probe_fixture.h"

// A stub of a model's server: it speaks the chat completions' protocol, but there is no model
// behind it; what it says is written down beforehand.
namespace vedette::worker::test {

// A completion whose message has `content`, with usage 100 + 20 tokens.
inline std::string Completion(const std::string& content, const std::string& finish = "stop") {
  base::Json message = {{"role", "assistant"}, {"content", content}, {"refusal", nullptr}};
  base::Json choice = {{"index", 0}, {"message", message}, {"finish_reason", finish}};
  base::Json body = {{"id", "chatcmpl-1"}, {"object", "chat.completion"}, {"model", "stub-1"}};
  body["choices"] = base::Json::array({choice});
  body["usage"] = {{"prompt_tokens", 100}, {"completion_tokens", 20}, {"total_tokens", 120}};
  return base::DumpJson(body);
}

inline std::string Refusal(const std::string& text) {
  base::Json body = base::ParseJsonOrThrow(Completion(""));
  body["choices"][0]["message"]["content"] = nullptr;
  body["choices"][0]["message"]["refusal"] = text;
  return base::DumpJson(body);
}

// The same answer as server-sent events, a few characters each.
inline std::string Stream(const std::string& content, bool ends = true) {
  std::string out = ": a comment\n\n";
  const auto event = [&](const base::Json& delta, const base::Json& finish) {
    base::Json chunk = {{"id", "chatcmpl-1"}, {"object", "chat.completion.chunk"}};
    chunk["choices"] =
        base::Json::array({{{"index", 0}, {"delta", delta}, {"finish_reason", finish}}});
    out += "data: " + base::DumpJson(chunk) + "\r\n\r\n";
  };
  event({{"role", "assistant"}, {"content", ""}}, nullptr);
  for (std::size_t i = 0; i < content.size(); i += 5) {
    event({{"content", content.substr(i, 5)}}, nullptr);
  }
  if (!ends) return out;
  event(base::Json::object(), "stop");
  out += R"(data: {"choices":[],"usage":{"prompt_tokens":100,"completion_tokens":20}})";
  return out + "\n\ndata: [DONE]\n\n";
}

inline base::Json Entry(base::Json value, bool changed, double confidence = 8) {
  return {{"value", std::move(value)},
          {"changed", changed},
          {"evidence", "as the page says"},
          {"sources", base::Json::array({"https://example.com/about"})},
          {"confidence", confidence}};
}

inline std::string Values(const base::Json& values) {
  return base::DumpJson(base::Json{{"values", values}});
}

}  // namespace vedette::worker::test
