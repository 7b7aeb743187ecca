-- name: split_lock_chunk
select :chunk_columns
from chunk c
where c.id = @id and c.lease_token = @token
for update

-- name: split_make_large
-- A tick that is not wholly inside one chunk any more: it gets its row now, and its outcomes a log.
with s as (
  update monitor_sched set open_large = true
  where monitor_id = @monitor_id and open_tick_id = @tick_id
  returning *
)
insert into tick (monitor_id, tick_id, org_id, trigger, due_at, started_at, slots, row_count)
select monitor_id, open_tick_id, org_id, open_trigger, open_due_at, open_started_at, open_slots, open_rows
from s
