#include "api/workflows/known_definitions.h"

namespace vedette::api {

std::shared_ptr<const domain::Definition> KnownDefinitions::Read(const std::string& json) {
  const auto read = [&json] {
    return std::make_shared<const domain::Definition>(domain::ReadStoredDefinition(json));
  };
  if (json.size() > kTextBytesMax) return read();
  {
    const std::lock_guard lock(mutex_);
    if (auto known = known_.Find(json)) return *known;
  }
  auto definition = read();
  const std::lock_guard lock(mutex_);
  known_.Insert(json, definition);
  return definition;
}

}  // namespace vedette::api
