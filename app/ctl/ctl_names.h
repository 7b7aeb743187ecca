#pragma once

#include <functional>
#include <string>

#include "app/ctl/ctl_commands.h"
#include "base/json.h"

namespace vedette::app {

// The answer to a GET of this target of the admin port. Throws RequestFailed otherwise.
using AskAdmin = std::function<base::Json(const std::string& target)>;

// Puts ids in place of the names of organisations, monitors and teams among what was given, so that
// commands take either. A name counts where it is written out in full, and only one thing has it;
// else RequestFailed says which there are. What has the form of an id is taken for one.
void ResolveNames(const CtlCommand& command, const AskAdmin& ask, CtlValues* values);

}  // namespace vedette::app
