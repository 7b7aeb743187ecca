#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>

#include "config/config_fwd.h"
#include "pages/page_reading.h"
#include "worker/probes/probe.h"
#include "worker/services/chat_completion.h"

// What the llm probe says to a model and what it takes from the answer: OpenAI-compatible chat
// completions with an answer that has to fit a schema. Pure.
namespace vedette::worker {

// The body of POST /chat/completions. The page (null: none) and the row stand in it as JSON
// strings, which their text cannot end. `fault`: what was wrong with the last answer, empty for the
// first.
std::string ChatRequestBody(const config::ProbeConfig& config, const ProbeRequest& request,
                            const pages::PageText* page, std::string_view fault);

// The schema of an answer: {"values": {field: {"value", "changed", "evidence", "sources",
// "confidence"} or null}} with the watched fields alone.
base::Json ChatAnswerSchema(const ProbeSpec& spec);

// What does not fit, as a phrase: worth asking once more.
struct ChatMisfit {
  std::string what;
};

struct ChatReading {
  // The failure is a refusal.
  std::variant<Observation, ProbeFailure, ChatMisfit> result;
  ChatTokens tokens;  // as the server counts them; 0 where it does not
};

// Reads the body of a 200, whole or as a stream of server-sent events. Only watched fields are
// taken; one that is null or left out was not observed. A value that the model does not call
// changed is what was known. The page's address becomes the first source.
ChatReading ReadChatAnswer(std::string_view body, const ProbeRequest& request,
                           const pages::PageText* page);

}  // namespace vedette::worker
