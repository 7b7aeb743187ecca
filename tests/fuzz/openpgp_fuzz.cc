// User ids are bounded, valid UTF-8, and hold an address.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/text.h"
#include "domain/people/openpgp.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace vedette;
  const std::string_view key(reinterpret_cast<const char*>(data), size);
  const auto ids = domain::ReadUserIds(key);
  if (ids.size() > domain::kUserIdsMax) std::abort();
  for (const domain::UserId& id : ids) {
    if (id.address.empty() || id.name.size() > domain::kUserIdBytesMax) std::abort();
    if (!base::IsValidUtf8(id.name) || !base::IsValidUtf8(id.address)) std::abort();
  }
  return 0;
}
