#include "rest/problems.h"

#include <utility>

namespace vedette::rest {

void Problems::Add(base::Json loc, std::string_view type, std::string msg, const base::Json& input,
                   base::Json ctx) {
  if (full()) return;
  items_.push_back(
      {std::move(loc), std::move(msg), std::string(type), Shortened(input), std::move(ctx)});
}

std::optional<Reply> Problems::Refusal() const {
  if (!any()) return std::nullopt;
  return ValidationReply(items_);
}

}  // namespace vedette::rest
