#include "api/workflows/lists.h"

#include <utility>

namespace vedette::api {

rest::Handled SendArray(Call& call, std::string text, std::optional<std::string> next_cursor) {
  std::vector<rest::Header> headers;
  if (next_cursor) headers.emplace_back(kNextCursor, *std::move(next_cursor));
  return rest::SendPieces(
      call.parts.pool, call.caller.org_id, call.answer, call.session,
      [text = std::move(text)](store::Session&, std::string* out) {
        out->append(text);
        return true;
      },
      std::move(headers));
}

}  // namespace vedette::api
