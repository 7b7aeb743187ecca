#include "store/channels/told_event.h"

namespace vedette::store {

domain::Event ReadTold(Columns& in) {
  domain::Event event;
  in.Into("monitor_id"_a = &event.monitor_id, "row_id"_a = &event.row_id, "id"_a = &event.id,
          "event_type"_a = &event.type, "event_group_id"_a = &event.event_group_id,
          "tick_id"_a = &event.tick_id, "field"_a = &event.field,
          "previous_value"_a = &event.previous_value_json,
          "current_value"_a = &event.current_value_json, "message"_a = &event.message,
          "evidence"_a = &event.evidence, "sources"_a = &event.sources_json,
          "confidence"_a = &event.confidence, "created_at"_a = &event.created_at);
  return event;
}

}  // namespace vedette::store
