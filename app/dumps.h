#pragma once

namespace vedette::app {

// Neither a core dump nor another process of the same user sees this one's memory from now on,
// which holds keys, tokens and people's addresses. (PR_SET_DUMPABLE; root still may.)
void ForbidDumps();

}  // namespace vedette::app
