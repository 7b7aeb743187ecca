#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/kit/body.h"
#include "api/kit/reply.h"
#include "domain/workflow/definition.h"
#include "domain/workflow/payload.h"

// The body of POST /workflows/run.
namespace vedette::api {

struct RunBody {
  base::Json specs_override;  // an object, or null
  // The records, as JSON text; empty where none were sent. They point into the request's body, or
  // are kept in `record`.
  std::optional<std::vector<std::string_view>> payload;
  std::string record;  // the payload that is one object
};

// What the port accepts, with what is different here.
rest::BodyRules RunBodyRules(rest::BodyRules rules);

// Reads the members; what has the wrong form becomes a problem. `body` lives as long as the
// result.
RunBody ReadRunBody(const rest::JsonBody& body, rest::Problems* problems);

// Replaces top-level members of the source's specs. What does not fit the source then.
domain::ValidationFaults OverrideSpecs(const base::Json& specs_override,
                                       const domain::DefinitionRules& rules,
                                       domain::Definition* definition);

// Takes room for so many bytes of rows in all, or throws.
using RoomForRows = std::function<void(std::size_t bytes)>;

// Reads the records as rows. What is no row becomes a problem.
void ReadRecords(const std::vector<std::string_view>& records, const RoomForRows& take_room,
                 domain::PayloadReader* reader, rest::Problems* problems);

}  // namespace vedette::api
