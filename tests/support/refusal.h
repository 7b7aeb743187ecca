#pragma once

#include <optional>

#include "api/kit/reply.h"

namespace vedette::test {

// The reply with which `work` refuses; nothing where it does not.
template <typename Work>
std::optional<rest::Reply> RefusalOf(const Work& work) {
  try {
    work();
  } catch (const rest::Refusal& refusal) {
    return refusal.reply();
  }
  return std::nullopt;
}

}  // namespace vedette::test
