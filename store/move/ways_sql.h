#pragma once

#include <string>
#include <vector>

#include "store/move/wire_sql.h"

// Internal to store/: what the members of an organisation that moves sign in with. An address is
// never proven, so who was first with it at a cell has it there: what he has shown at one side
// opens nothing that the address has at the other.
namespace vedette::store {

// The addresses of members that the target knows too, with other ways of signing in than the
// source has. Those of a membership of this organisation alone are unknown there.
std::vector<std::string> Strangers(Wire& source, Wire& target, const std::string& org_id);

// Nobody makes, at the target, another way for any of the members until its transaction ends.
void HoldWays(Wire& source, Wire& target, const std::string& org_id);

// Passkeys and sessions of each address end, and its password becomes one that nobody knows, so
// that an invitation of somebody else does not make the first one either.
void ResetWays(Wire& target, const std::string& org_id, const std::vector<std::string>& emails);

}  // namespace vedette::store
