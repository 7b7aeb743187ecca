#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "base/clock.h"
#include "base/event_loop.h"
#include "config/config_fwd.h"
#include "html/page_reading.h"
#include "metrics/metrics.h"
#include "net/http_client.h"
#include "worker/probes/probe.h"
#include "worker/probes/web_probe.h"
#include "worker/services/chat_completion.h"
#include "worker/services/request_room.h"
#include "worker/services/service_call.h"

namespace vedette::worker {

// The time of an attempt of `timeout` that begins with `request`, another probe's: the turns of
// that request count in it, and `on_turn` is told and asked as before.
inline std::shared_ptr<const AttemptTime> MeasureTurns(ProbeRequest* request,
                                                       std::chrono::milliseconds timeout,
                                                       std::chrono::nanoseconds now) {
  auto time = std::make_shared<AttemptTime>(now, timeout);
  request->on_turn = [time, ask = std::move(request->on_turn)](std::chrono::milliseconds waited) {
    const auto all = time->WaitedForTurn(waited);
    return !ask || ask(all);
  };
  return time;
}

// What the llm probe says to a model and what it takes from the answer: OpenAI-compatible chat
// completions with an answer that has to fit a schema. Pure.

// The body of POST /chat/completions. The page (null: none) and the row stand in it as JSON
// strings, which their text cannot end. `fault`: what was wrong with the last answer, empty for the
// first.
std::string ChatRequestBody(const config::ProbeConfig& config, const ProbeRequest& request,
                            const html::PageText* page, std::string_view fault);

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
                           const html::PageText* page);

// A language model behind an OpenAI-compatible /chat/completions (docs/probes.md), whose answer has
// to fit a schema made of the watched fields. Loop thread only. An answer that does not is asked
// for once more, with what was wrong. The model's URL is the operator's: exempt from G9, never
// redirected. What is asked and what is answered count in `budgets`. Its failures:
//   dns, connect, tls, timeout, http_status, protocol, body_too_large, invalid_answer, refusal,
//   overloaded
class LlmProbe final : public Probe {
 public:
  // `pages` fetches what the model is given of the row's page, up to config.page_text_bytes_max;
  // null: nothing.
  LlmProbe(base::EventLoop& loop, net::HttpClient& client, const ServiceBudgets& budgets,
           const base::Clock& clock, metrics::Metrics& metrics, const config::ProbeConfig& config,
           WebProbe* pages);
  ~LlmProbe() override;  // callbacks of what is under way are dropped

  // Reads the row's page first, within half of the timeout; without one, or where it cannot be
  // read, the model is asked all the same.
  void Start(ProbeRequest request, std::function<void(ProbeResult)> done) override;

  // With a page that is read already, or none.
  void Ask(ProbeRequest request, std::optional<html::PageText> page,
           std::function<void(ProbeResult)> done);

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

// Kind web with a model: selectors stay with the web probe, fields in prose go to the model
// together with the text of the same page, fetched once. A page that cannot be read fails the check
// as it does for the web probe; only a row that names no page at all, with prose alone, goes to the
// model without one. Fails as either does. Loop thread only.
class MixedProbe final : public Probe {
 public:
  MixedProbe(WebProbe& web, LlmProbe& model, const base::Clock& clock,
             const config::ProbeConfig& config);
  ~MixedProbe() override;  // callbacks of what is under way are dropped
  void Start(ProbeRequest request, std::function<void(ProbeResult)> done) override;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace vedette::worker
