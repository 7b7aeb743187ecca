-- fragment: sched_columns
-- The columns of a monitor_sched s, and the transaction's time.
s.monitor_id, s.org_id, s.team_id, s.tier, s.frequency_s, s.anchor_at, s.next_run_at, s.row_count, s.last_tick_id,
  s.open_tick_id, s.chunk_id, s.check_ms, s.failing_since is not null as failing, s.schedule,
  coalesce((s.schedule ->> 'longest_s')::bigint, s.frequency_s) as longest_s, now()

-- name: tick_insert_closed
-- @outcomes are those of a small tick, or null; @outcome is what all rows of a large one have.
insert into tick (monitor_id, tick_id, org_id, trigger, due_at, started_at, finished_at, slots, row_count,
                  outcomes, counts)
select u.monitor_id, u.tick_id, u.org_id, u.trigger, u.due_at, @at::timestamptz, @at::timestamptz, u.slots, u.row_count,
       u.outcomes,
       case when u.outcomes is null
            then array_fill(0::bigint, array[@outcome::int]) || u.row_count::bigint
                 || array_fill(0::bigint, array[:outcome_max - @outcome::int]) end
from unnest(@monitor_id::uuid[], @tick_id::bigint[], @org_id::uuid[], @trigger::smallint[], @due_at::timestamptz[],
            @slots::int[], @row_count::int[], @outcomes::bytea[])
  as u(monitor_id, tick_id, org_id, trigger, due_at, slots, row_count, outcomes)

-- name: tick_insert_open
insert into tick (monitor_id, tick_id, org_id, trigger, due_at, started_at, slots, row_count)
select u.monitor_id, u.tick_id, u.org_id, u.trigger, u.due_at, u.started_at, u.slots, u.row_count
from unnest(@monitor_id::uuid[], @tick_id::bigint[], @org_id::uuid[], @trigger::smallint[], @due_at::timestamptz[],
            @started_at::timestamptz[], @slots::int[], @row_count::int[])
  as u(monitor_id, tick_id, org_id, trigger, due_at, started_at, slots, row_count)

-- name: tick_open_small
-- What sched_open_ticks and chunk_insert do for one manual tick that one chunk holds, in one round trip. @id is
-- the chunk's, @available_at its turn. The schedule is as it was: no index of it is written.
with opened as (
  update monitor_sched s
  set last_tick_id = @tick_id, last_run_at = now(), open_tick_id = @tick_id, open_due_at = now(),
      open_started_at = now(), open_slots = 0, open_rows = s.row_count, open_trigger = @trigger::smallint,
      open_large = false, portion_at = null, portion_position = null, portion_turn = null
  where s.monitor_id = @monitor_id
  returning s.monitor_id, s.org_id, s.team_id, s.tier, s.row_count
)
insert into chunk (id, org_id, team_id, tier, available_at, monitor_ids, tick_ids, firsts, ends, due_at, row_count)
select @id::uuid, o.org_id, o.team_id, o.tier, @available_at::timestamptz, array[o.monitor_id],
       array[@tick_id::bigint], array[0], array[o.row_count], now(), o.row_count
from opened o

-- name: check_log_of_tick
select l.outcomes, l.check_ms
from generate_series(0, @last_block::int) as b(block)
join check_log l on l.monitor_id = @monitor_id and l.block = b.block and l.tick_id = @tick_id

-- name: tick_close_large
update tick set finished_at = now(), counts = @counts::bigint[]
where monitor_id = @monitor_id and tick_id = @tick_id and finished_at is null

-- name: tick_ids
select tick_id from tick where monitor_id = @monitor_id and tick_id < @before order by tick_id desc limit @limit

-- name: tick_last
select s.last_tick_id
from :state_at

-- name: tick_list
select :tick_columns
from (
  select :tick_columns
  from tick
  where monitor_id = @monitor_id and tick_id < @before
  union all
  select tick_id, trigger, due_at, started_at, null, slots, row_count, null, null
  from open_tick
  where monitor_id = @monitor_id and tick_id < @before and not is_large
) t
order by tick_id desc
limit @limit
