-- name: split_lock_chunk
select :chunk_columns, :held_columns
from chunk c
where c.id = @id and c.lease_token = @token
for update

-- name: split_hold_ticks
-- The ticks that chunk @id held are in others now.
update monitor_sched s
set chunk_id = u.chunk_id
from unnest(@monitor_id::uuid[], @chunk_id::uuid[]) as u(monitor_id, chunk_id)
where s.monitor_id = u.monitor_id and s.chunk_id = @id

-- name: split_make_large
-- A tick that is not wholly inside one chunk any more: it gets its row now, and its outcomes a log.
-- Where its chunk @id held it, it is open by its schedule from now on.
with s as (
  update monitor_sched
  set open_large = true, open_tick_id = @tick_id, open_due_at = coalesce(open_due_at, @due_at::timestamptz),
      open_started_at = coalesce(open_started_at, @started_at::timestamptz),
      open_slots = coalesce(open_slots, @slots::int), open_rows = coalesce(open_rows, @row_count::int),
      open_trigger = coalesce(open_trigger, @trigger::smallint)
  where monitor_id = @monitor_id and (open_tick_id = @tick_id or open_tick_id is null and chunk_id = @id)
  returning *
)
insert into tick (monitor_id, tick_id, org_id, trigger, due_at, started_at, slots, row_count)
select monitor_id, open_tick_id, org_id, open_trigger, open_due_at, open_started_at, open_slots, open_rows
from s
