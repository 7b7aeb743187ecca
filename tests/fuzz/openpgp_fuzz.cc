// User ids are bounded, valid UTF-8, and hold an address.
#include <cstdlib>
#include <string_view>

#include "base/text.h"
#include "domain/people/openpgp.h"
#include "tests/fuzz/target.h"

namespace vedette {

FUZZ_TARGET(openpgp, key) {
  const auto ids = domain::ReadUserIds(key);
  if (ids.size() > domain::kUserIdsMax) std::abort();
  for (const domain::UserId& id : ids) {
    if (id.address.empty() || id.name.size() > domain::kUserIdBytesMax) std::abort();
    if (!base::IsValidUtf8(id.name) || !base::IsValidUtf8(id.address)) std::abort();
  }
}

}  // namespace vedette
