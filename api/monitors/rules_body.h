#pragma once

#include <optional>

#include "base/json.h"
#include "domain/request_headers.h"
#include "rest/body_reader.h"
#include "rest/problems.h"

// The members `rules` and `request_headers` of the bodies of monitors. Pure.
namespace vedette::api {

// What is wrong with rules by field; `watched` is as domain::JudgeChangeRules takes it.
void CheckRules(const base::Json& rules, const base::Json& watched, rest::Problems* problems);

// Nothing where there are none. Only valid without problems.
std::optional<base::Json> ReadRules(rest::BodyReader* reader, const base::Json& watched,
                                    rest::Problems* problems);
domain::RequestHeaders ReadHeaders(rest::BodyReader* reader, rest::Problems* problems);

}  // namespace vedette::api
