#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/kit/reply.h"
#include "base/json.h"
#include "domain/email/find_request.h"
#include "domain/email/finders.h"
#include "net/public_address.h"

// The body of a request that looks for addresses. Pure.
namespace vedette::api {

// Whether it has `lead`, an object, or `leads`, an array of objects.
enum class LeadShape : std::uint8_t { kSingle, kBulk };

struct FindBody {
  std::vector<base::Json> leads;
  domain::FindMode mode = domain::FindMode::kProfessional;
  bool verify_emails = true;
  std::vector<std::string> providers;  // empty: the configured order
  std::optional<std::string> webhook_url;

  // The first lead that breaks a rule, as its 400; one that is no object comes first.
  struct LeadBreach {
    std::string code;
    std::string message;
  };
  std::optional<LeadBreach> breach{};
};

// What has the wrong form becomes a problem (422), unknown members too. Of more leads than
// kLeadsMax none is read.
FindBody ReadFindBody(base::Json members, LeadShape shape, rest::Problems* problems);

// The rules, the first broken one first: a 400 of no_leads, too_many_leads, invalid_lead,
// empty_lead, unknown_provider or provider_not_for_this, or nothing. Only for a body without
// problems.
void CheckFindBody(const FindBody& body, const domain::KnownFinders& known);

// The body of a request that asks who is behind addresses: as ReadFindBody, without mode and
// verify_emails.
FindBody ReadReverseBody(base::Json members, LeadShape shape, rest::Problems* problems);

// The rules of leads alone: no_leads, too_many_leads, invalid_lead, empty_lead.
void CheckLeads(const FindBody& body);

// The receiver of a job's callback: https, public, at most 2083 characters; else a 400
// invalid_webhook_url.
net::TenantUrl ReadJobWebhook(const std::string& url, const net::AddressPolicy& policy);

}  // namespace vedette::api
