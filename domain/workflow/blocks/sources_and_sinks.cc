#include "base/text.h"
#include "domain/workflow/block_type.h"
#include "domain/workflow/blocks/blocks.h"
#include "domain/workflow/payload.h"

// The blocks without an input. Their columns come with the rows: `bind` is given them.
namespace vedette::domain {
namespace {

constexpr std::string_view kWebhookSchema = R"({
  "type": "object", "additionalProperties": false, "required": ["dataframe_type"],
  "properties": {
    "dataframe_type": {"type": "string", "enum": ["LEAD", "COMPANY"],
      "description": "What a row is about."},
    "input_schema": {"type": ["object", "null"], "default": null, "maxProperties": 1024,
      "additionalProperties": {"type": "object"},
      "description": "Columns that a record must have, unless their schema says \"required\": false. Types are advice."},
    "webhook_input": {"type": ["string", "null"], "default": null, "maxLength": 1048576,
      "description": "JSON: the payload of a run that brings none."}
  }
})";

constexpr std::string_view kReadCsvSchema = R"({
  "type": "object", "additionalProperties": false,
  "properties": {
    "dataframe_type": {"type": "string", "enum": ["LEAD", "COMPANY"], "default": "LEAD",
      "description": "What a row is about."},
    "resource_handle_id": {"type": ["string", "null"], "default": null,
      "description": "The handle of an uploaded file; a run names it in specs_override."}
  }
})";

Columns AsGiven(const base::Json& /*specs*/, const Columns& input) {
  return input;
}

SpecFault At(std::string_view member, std::string type, std::string msg) {
  return {base::Json::array({member}), std::move(type), std::move(msg)};
}

std::optional<SpecFault> ValidateWebhook(const base::Json& specs) {
  if (specs.at("input_schema").is_object()) {
    for (const auto& [name, schema] : specs.at("input_schema").items()) {
      const std::size_t chars = base::CountCharacters(name);
      if (chars >= 1 && chars <= kColumnCharsMax) continue;
      return At("input_schema", chars == 0 ? "string_too_short" : "string_too_long",
                "The name of a column has 1 to 200 characters");
    }
  }
  if (!specs.at("webhook_input").is_string()) return std::nullopt;
  const auto payload = ReadSample(specs.at("webhook_input").get_ref<const std::string&>());
  if (payload) return std::nullopt;
  return At("webhook_input", "invalid_json",
            "webhook_input should be JSON text: an object, or an array of objects");
}

}  // namespace

const BlockType kWebhookBlock{
    .name = kWebhookBlockName,
    .description = "Takes the records of the run's webhook_payload, one row each.",
    .specs_schema = kWebhookSchema,
    .category = BlockCategory::kSource,
    .work = BlockWork::kGiven,
    .bind = AsGiven,
    .validate = ValidateWebhook,
};

const BlockType kReadCsvBlock{
    .name = kReadCsvBlockName,
    .description = "Reads an uploaded CSV file. Every value is text, a blank one is no value.",
    .specs_schema = kReadCsvSchema,
    .category = BlockCategory::kSource,
    .work = BlockWork::kReadsFile,
    .bind = AsGiven,
};

// Tells a receiver of the run's end. It has no rows of its own: it shows those of its input.

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
