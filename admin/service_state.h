#pragma once

#include <string>
#include <vector>

#include "base/uuid.h"

namespace vedette::admin {

// What the admin port has to know of, and may do to, the process it runs in. Implemented by app.
// All methods are safe on any thread and return at once.
class ServiceState {
 public:
  virtual ~ServiceState() = default;

  // Whether the process serves its roles now; otherwise `reasons` gets a sentence each.
  virtual bool Ready(std::vector<std::string>* reasons) const = 0;

  // Begins the orderly end of the process, as SIGTERM does. Repeating it changes nothing.
  virtual void Drain() = 0;

  // The process's id in the fleet (`member`).
  virtual base::Uuid member_id() const = 0;
};

}  // namespace vedette::admin
