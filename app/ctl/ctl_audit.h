#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "app/ctl/ctl_text.h"
#include "base/json_text.h"
#include "net/line_stream.h"

namespace vedette::app {

// The chain of the audit (store/audit_chain.h) as the command line sees it: an operator who asks
// for it need not trust the server, as every hash is made again here.

// The first entry to look at, and what is known of it from elsewhere.
struct ChainStart {
  std::optional<std::int64_t> from;       // nothing: the first entry that is kept
  std::optional<std::string> checkpoint;  // the hash of the entry before `from`, 64 hex digits
};

// Makes the hashes of every entry again, up to the last one that is sealed now. What it gives has
// `seq` and `hash` of that one, to be kept and given as the next checkpoint; `entries`, how many
// there were; and `erased`, of how many what may name a person has been erased. Throws
// RequestFailed, which names the first entry that was changed or is missing; and
// std::invalid_argument for a checkpoint that is none.
base::Json VerifyAudit(const AskAdmin& ask, const ChainStart& start);

// Reads the lines of this target of the admin port as they come (net::ReadLines).
using StreamAdmin = std::function<net::StreamEnd(
    const std::string& target, const std::function<bool(std::string_view line)>& take)>;

// Gives `tell` every entry behind `after`, or from the oldest on, and then each new one, until
// `tell` says false. Where the answer ends, as with its process, or the server does not answer, it
// goes on behind the last entry, and says so on standard error. Throws RequestFailed where it is
// refused, and where there is no answer to begin with.
void FollowAudit(const StreamAdmin& stream, std::optional<std::int64_t> after,
                 const std::function<bool(const base::Json& entry)>& tell);

// The place that a text names. Throws std::invalid_argument.
std::int64_t PlaceOf(const std::string& text);

}  // namespace vedette::app
