#include "domain/workflow/block_types.h"
#include "domain/workflow/blocks/blocks.h"

// Tells a receiver of the run's end. It has no rows of its own: it shows those of its input.
namespace vedette::domain {
namespace {

constexpr std::string_view kSchema = R"({
  "type": "object", "additionalProperties": false, "required": ["url"],
  "properties": {
    "url": {"type": "string", "minLength": 1, "maxLength": 2083,
      "description": "A public http or https address."},
    "include_results": {"type": "boolean", "default": true,
      "description": "Whether the rows go along, where they fit."},
    "send_on_failure": {"type": "boolean", "default": false,
      "description": "Whether a run that fails or is cancelled is told, too."}
  }
})";

Columns Bind(const base::Json& /*specs*/, const Columns& input) {
  return input;
}

}  // namespace

const BlockType kOutgoingWebhookBlock{
    .name = kOutgoingWebhookBlockName,
    .description = "Sends the run's end, with its rows or a link to them, to an address.",
    .specs_schema = kSchema,
    .category = BlockCategory::kOutput,
    .work = BlockWork::kAtEnd,
    .bind = Bind,
    .url_member = "url",
};

}  // namespace vedette::domain
