#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rest/reply.h"

namespace vedette::rest {

// What is wrong with one request, gathered while it is read, so that a 422 names everything at
// once. At most kItemsMax items are kept: a body of 100,000 bad rows is not answered by as many.
// One thread.
class Problems {
 public:
  static constexpr std::size_t kItemsMax = 100;

  // `input` is what was given; it is shortened here. `ctx` is an object or null.
  void Add(base::Json loc, std::string_view type, std::string msg,
           const base::Json& input = nullptr, base::Json ctx = nullptr);

  bool any() const { return !items_.empty(); }
  bool full() const { return items_.size() >= kItemsMax; }
  const std::vector<ValidationItem>& items() const { return items_; }

  // The 422, if anything is wrong.
  std::optional<Reply> Refusal() const;

 private:
  std::vector<ValidationItem> items_;
};

}  // namespace vedette::rest
