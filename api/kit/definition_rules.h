#pragma once

#include "config/config_fwd.h"
#include "domain/workflow/definition.h"
#include "net/public_address.h"

namespace vedette::rest {

// The rules by which definitions of workflows are validated, those of clients and the operator's
// templates, which clients take. Keeps a reference to the address policy. Any thread.
domain::DefinitionRules DefinitionRulesOf(const config::Config& config,
                                          const net::AddressPolicy& policy);

}  // namespace vedette::rest
