#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "domain/email/found.h"
#include "worker/providers/waterfall.h"

// What a lead that waits for a greylist takes with it, so that no provider is asked or paid twice.
// Pure.
namespace vedette::worker {

struct FindMemo {
  std::string domain;             // of the company, where a provider named it; else empty
  std::vector<Try> domain_tries;  // at it
  std::vector<Try> tries;
  std::vector<domain::FoundAddress> seen;
};

// JSON of at most kMemoBytesMax. Where it would be longer, quotes and then sources are left out;
// empty where it is too long even so.
std::optional<std::string> WriteFindMemo(const FindMemo& memo);

// What WriteFindMemo wrote; addresses that said "later" are open again. Empty for anything else.
std::optional<FindMemo> ReadFindMemo(std::string_view json);

}  // namespace vedette::worker
