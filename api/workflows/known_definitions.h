#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>

#include "base/recent_map.h"
#include "domain/workflow/definition.h"

namespace vedette::api {

// Stored definitions of workflows, read once while they are run again and again: reading one takes
// longer than all else that a process does to start a small run. They are known by their text, so
// that one that was changed is another one. Any thread.
class KnownDefinitions {
 public:
  static constexpr std::size_t kKnownMax = 256;
  static constexpr std::size_t kTextBytesMax = 16 * 1024;  // a longer one is read each time

  // As domain::ReadStoredDefinition, which see.
  std::shared_ptr<const domain::Definition> Read(const std::string& json);

 private:
  std::mutex mutex_;
  base::RecentMap<std::string, std::shared_ptr<const domain::Definition>> known_{kKnownMax};
};

}  // namespace vedette::api
