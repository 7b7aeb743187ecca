#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/call.h"
#include "api/email/find_body.h"
#include "base/json.h"
#include "domain/people/people_answer.h"
#include "rest/body_reader.h"
#include "rest/problems.h"
#include "rest/reply.h"
#include "store/jobs/start.h"

// The bodies of requests about people. Pure, but for the configuration that they are judged by.
namespace vedette::api {

// What all of them have beside their leads.
struct PeopleCommon {
  std::vector<std::string> providers;  // empty: the configured order
  std::optional<std::string> webhook_url;
};
PeopleCommon ReadPeopleCommon(rest::BodyReader* reader);

// 400 unknown_provider, which names the known ones, provider_not_for_this, invalid_webhook_url.
rest::Judged<std::optional<store::Webhook>> JudgePeopleCommon(const Call& call,
                                                              domain::PeopleQuestion question,
                                                              const PeopleCommon& common);

struct AgeBody {
  std::optional<base::Json> subject;  // of exactly one of subject, lead_info and input
  std::optional<FindBody::LeadBreach> breach;
  PeopleCommon common;
};
// What has the wrong form becomes a problem (422), unknown members too. The breach is a 400 of
// empty_subject or ambiguous_subject.
AgeBody ReadAgeBody(const base::Json& members, rest::Problems* problems);

}  // namespace vedette::api
