#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"

// Messages of the Chrome DevTools Protocol as they go through a pipe: JSON texts, each followed by
// a NUL. Pure.
namespace vedette::net {

// Longer answers are passed over; the page that asked for one fails.
inline constexpr std::size_t kDevtoolsBytesMax = 32 << 20;
// Longer events are passed over. A page makes them, of addresses as long as it likes.
inline constexpr std::size_t kDevtoolsEventBytesMax = 256 << 10;

// Cuts what is read into messages.
class DevtoolsSplitter {
 public:
  // `message`: the text of one, without its NUL; `whole` false: it was longer than
  // kDevtoolsBytesMax, or an event longer than kDevtoolsEventBytesMax, and this is its beginning.
  // Called for each that ends in `bytes`, which it may not keep.
  void Add(std::string_view bytes,
           const std::function<void(std::string message, bool whole)>& message);

 private:
  void Hold(std::string_view piece);

  std::string held_;
  bool cut_ = false;
};

// The id of the command that a message answers, of messages in the form that the browser writes
// ({"id":12,...), without parsing the rest; empty for events and all others.
std::optional<std::int64_t> AnswerId(std::string_view message);

// A command, with the NUL that ends it. `session`: empty for the browser itself.
std::string DevtoolsCommand(std::int64_t id, std::string_view method, base::Json params,
                            std::string_view session);

// Halves of surrogate pairs without the other half (\ud83d alone), which are no text and which
// scripts can make, become \ufffd. Most messages have none and are left as they are.
void MendSurrogates(std::string* message);

// The member's text; empty where there is none.
std::string TextMember(const base::Json& json, const char* name);

// A message that is no answer whose text is kept.
struct DevtoolsMessage {
  std::optional<std::int64_t> id;  // of the command; empty: an event
  std::string method;              // of an event
  std::string session;
  base::Json body;    // the result, or the event's params; {} where there are none
  std::string error;  // of a command that failed
};

// Empty where it is no message.
std::optional<DevtoolsMessage> ReadDevtoolsMessage(std::string message);

}  // namespace vedette::net
