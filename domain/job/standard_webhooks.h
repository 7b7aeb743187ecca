#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// The signature of outgoing webhooks as Standard Webhooks describes it, whose libraries verify it
// (docs/webhooks.md). It stands beside Service-Signature (domain/job/webhook.h) and has the same
// keys. Pure.
namespace vedette::domain {

// The headers webhook-id, webhook-timestamp and webhook-signature. `id` tells duplicates, as
// Service-Event-Id does. The last one has "v1," and the padded base64 of
// HMAC-SHA256(secret, "<id>.<unix_seconds>." + body) for each secret, in the order given, with
// spaces between them.
std::vector<std::pair<std::string, std::string>> StandardWebhooksHeaders(
    const std::vector<std::string>& secrets, std::string_view id, std::int64_t unix_seconds,
    std::string_view body);

}  // namespace vedette::domain
