#include "app/dumps.h"

#include <sys/prctl.h>

#include <cerrno>
#include <system_error>

namespace vedette::app {

void ForbidDumps() {
  if (prctl(PR_SET_DUMPABLE, 0) != 0) {
    throw std::system_error(errno, std::generic_category(), "core dumps cannot be forbidden");
  }
}

}  // namespace vedette::app
