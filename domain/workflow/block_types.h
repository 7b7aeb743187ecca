#pragma once

#include <span>
#include <string_view>

#include "domain/workflow/block_type.h"

// The blocks that workflows can have. A new one is a file of domain/workflow/blocks/ and a line of
// block_types.cc; one that asks services also has a runner in worker/blocks/.
namespace vedette::domain {

// In the order in which they are shown.
std::span<const BlockType* const> BlockTypes();

// Null for an unknown name.
const BlockType* FindBlockType(std::string_view name);

inline constexpr std::string_view kWebhookBlockName = "webhook";
inline constexpr std::string_view kReadCsvBlockName = "read_csv";
inline constexpr std::string_view kOutgoingWebhookBlockName = "outgoing_webhook";
inline constexpr std::string_view kMonitorBlockName = "monitor";

}  // namespace vedette::domain
