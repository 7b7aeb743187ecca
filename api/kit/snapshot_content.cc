#include "api/kit/snapshot_content.h"

#include <stdexcept>
#include <string>
#include <utility>

#include "base/compression.h"
#include "domain/monitor/observation.h"

namespace vedette::rest {

Reply SnapshotReply(std::optional<std::string> content, store::SnapshotPart part) {
  const bool is_text = part == store::SnapshotPart::kText;
  if (!content) throw Refusal(NotFound(is_text ? "snapshot" : "screenshot"));
  if (is_text) {
    content = base::Decompressed(*content, domain::kSnapshotTextBytesMax);
    if (!content) throw std::runtime_error("a snapshot's text is not as it was written");
  }
  return Reply{200,
               std::move(*content),
               {{"Content-Type", is_text ? "text/plain; charset=utf-8" : "image/webp"},
                {"X-Content-Type-Options", "nosniff"},
                {"Content-Security-Policy", "sandbox; default-src 'none'"}}};
}

}  // namespace vedette::rest
