#pragma once

#include <optional>
#include <string>

#include "api/call.h"
#include "domain/workflow/template.h"

// What the routes of templates and of workflows have in common.
namespace vedette::api {

// The template that the key stands for: a slug or an id of one that ships, the id of one of the
// caller's organisation. Nothing for any other key, and for an internal one.
std::optional<domain::WorkflowTemplate> FindTemplate(const Call& call, const std::string& key);

}  // namespace vedette::api
