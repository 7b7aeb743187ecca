#pragma once

#include <string>

#include "store/session.h"

// A transaction pooler gives each transaction any session of the server's: what a session is set
// to, the statements that it has prepared, its locks and what it listens to are another's at the
// next transaction. vedette cannot work through one, and says so at its start. A pooler that keeps
// a session for as long as a connection lasts is as good as none.
namespace vedette::store {

// Whether the database is reached through a transaction pooler: a sentence that says what to do, or
// nothing. Blocks for one round trip where there is no pooler, for a few and a second connection
// where there is one. Throws Unavailable.
std::string TransactionPoolerFound(Session& session);

}  // namespace vedette::store
