#pragma once

#include <memory>

#include "api/list_stream.h"
#include "domain/monitor_json.h"

namespace vedette::api {

// How all rows of a monitor behind `after_position` are read and written; the caller adds head,
// limit and tail.
ListParts<domain::Row> RowListParts(const std::shared_ptr<const domain::Monitor>& monitor,
                                    domain::RowJson::View view, int after_position);

}  // namespace vedette::api
