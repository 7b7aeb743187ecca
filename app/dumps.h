#pragma once

namespace vedette::app {

// From now on neither a core dump nor another process of the same user sees the memory of this one,
// which holds keys, tokens and people's addresses. (PR_SET_DUMPABLE; root still may.)
void ForbidDumps();

}  // namespace vedette::app
