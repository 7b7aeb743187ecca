-- fragment: sched_columns
-- Of a monitor_sched s, and the transaction's time.
s.monitor_id, s.org_id, s.team_id, s.tier, s.frequency_s, s.anchor_at, s.next_run_at, s.row_count, s.last_tick_id,
  s.open_tick_id, s.check_ms, now()

-- name: sched_due
select :sched_columns
from monitor_sched s
where s.live and s.next_run_at <= now()
order by s.next_run_at
limit $1
for update skip locked

-- name: sched_next_due
select now(),
       least((select min(next_run_at) from monitor_sched where live),
             (select min(portion_at) from monitor_sched where portion_at is not null))

-- name: sched_open_ticks
-- $1 monitors, $2 ticks, $3 next runs, $4 due, $5 slots, $6 triggers, $7 large, $8 next position or null; taken apart as
-- in record.sql.
update monitor_sched s
set last_tick_id = u.tick_id, last_run_at = now(), next_run_at = u.next_run_at,
    open_tick_id = u.tick_id, open_due_at = u.due_at, open_started_at = now(), open_slots = u.slots,
    open_rows = s.row_count, open_trigger = u.trigger, open_large = u.large,
    portion_at = case when u.portion_position is null then null else now() end,
    portion_position = u.portion_position, portion_turn = null
from (select unnest($1::uuid[]) as monitor_id, unnest($2::bigint[]) as tick_id,
             timestamptz 'epoch' + unnest($3::bigint[]) * interval '1 microsecond' as next_run_at,
             timestamptz 'epoch' + unnest($4::bigint[]) * interval '1 microsecond' as due_at,
             unnest($5::int[]) as slots, unnest($6::smallint[]) as trigger, unnest($7::boolean[]) as large,
             unnest($8::int[]) as portion_position) as u
where s.monitor_id = u.monitor_id

-- name: sched_pass_ticks
-- Ticks that are closed at once: the monitor moves on, its open tick stays.
update monitor_sched s
set last_tick_id = u.tick_id, last_run_at = now(), next_run_at = u.next_run_at
from unnest($1::uuid[], $2::bigint[], $3::timestamptz[]) as u(monitor_id, tick_id, next_run_at)
where s.monitor_id = u.monitor_id

-- name: tick_insert_closed
-- $8 outcomes of small ticks or null, $9 the outcome that all rows of a large one have
insert into tick (monitor_id, tick_id, org_id, trigger, due_at, started_at, finished_at, slots, row_count,
                  outcomes, counts)
select u.monitor_id, u.tick_id, u.org_id, u.trigger, u.due_at, now(), now(), u.slots, u.row_count,
       u.outcomes,
       case when u.outcomes is null
            then array_fill(0::bigint, array[$9::int]) || u.row_count::bigint
                 || array_fill(0::bigint, array[:outcome_max - $9::int]) end
from unnest($1::uuid[], $2::bigint[], $3::uuid[], $4::smallint[], $5::timestamptz[], $6::int[], $7::int[],
            $8::bytea[])
  as u(monitor_id, tick_id, org_id, trigger, due_at, slots, row_count, outcomes)

-- name: tick_insert_open
insert into tick (monitor_id, tick_id, org_id, trigger, due_at, started_at, slots, row_count)
select u.monitor_id, u.tick_id, u.org_id, u.trigger, u.due_at, now(), u.slots, u.row_count
from unnest($1::uuid[], $2::bigint[], $3::uuid[], $4::smallint[], $5::timestamptz[], $6::int[], $7::int[])
  as u(monitor_id, tick_id, org_id, trigger, due_at, slots, row_count)

-- name: chunk_turns
-- The first turn among each organisation's due chunks, null without any.
select o.id, (select available_at from chunk
              where org_id = o.id and available_at <= now() order by available_at limit 1), now()
from unnest($1::uuid[]) as o(id)

-- name: chunk_insert
-- Arrays of arrays do not exist with different lengths: $7 to $10 are each chunk's array in text form.
insert into chunk (id, org_id, team_id, tier, available_at, monitor_id, monitor_ids, tick_ids, firsts, ends,
                   due_at, row_count)
select u.id, u.org_id, u.team_id, u.tier, u.turn, u.monitor_id, u.monitor_ids::uuid[], u.tick_ids::bigint[],
       u.firsts::int[], u.ends::int[], u.due_at, u.row_count
from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::smallint[], $5::uuid[], $6::timestamptz[], $7::text[],
            $8::text[], $9::text[], $10::text[], $11::int[], $12::timestamptz[])
  as u(id, org_id, team_id, tier, monitor_id, due_at, monitor_ids, tick_ids, firsts, ends, row_count, turn)

-- name: tick_open_small
-- What sched_open_ticks and chunk_insert do for one manual tick that one chunk holds, in one round trip: $1 monitor,
-- $2 tick, $3 trigger, $4 the chunk's id, $5 its turn. The schedule is as it was: no index of it is written.
with opened as (
  update monitor_sched s
  set last_tick_id = $2, last_run_at = now(), open_tick_id = $2, open_due_at = now(), open_started_at = now(),
      open_slots = 0, open_rows = s.row_count, open_trigger = $3::smallint, open_large = false, portion_at = null,
      portion_position = null, portion_turn = null
  where s.monitor_id = $1
  returning s.monitor_id, s.org_id, s.team_id, s.tier, s.row_count
)
insert into chunk (id, org_id, team_id, tier, available_at, monitor_ids, tick_ids, firsts, ends, due_at, row_count)
select $4::uuid, o.org_id, o.team_id, o.tier, $5::timestamptz, array[o.monitor_id], array[$2::bigint], array[0],
       array[o.row_count], now(), o.row_count
from opened o

-- name: sched_due_portions
select monitor_id, org_id, team_id, tier, frequency_s, anchor_at, open_tick_id, open_due_at,
       open_started_at, open_rows, open_trigger, portion_position, portion_turn, check_ms
from monitor_sched
where portion_at is not null and portion_at <= now()
order by portion_at
limit $1
for update skip locked

-- name: sched_set_portions
update monitor_sched s
set portion_at = u.portion_at, portion_position = u.portion_position, portion_turn = u.portion_turn
from unnest($1::uuid[], $2::timestamptz[], $3::int[], $4::timestamptz[])
  as u(monitor_id, portion_at, portion_position, portion_turn)
where s.monitor_id = u.monitor_id

-- name: sched_closable
select s.monitor_id, s.open_tick_id, s.open_rows
from monitor_sched s
where s.open_large and s.portion_at is null
  and not exists (select from chunk c where c.monitor_id = s.monitor_id)
limit $1
for update skip locked

-- name: check_log_of_tick
select l.outcomes, l.check_ms
from generate_series(0, $3::int) as b(block)
join check_log l on l.monitor_id = $1 and l.block = b.block and l.tick_id = $2

-- name: tick_close_large
update tick set finished_at = now(), counts = $3::bigint[]
where monitor_id = $1 and tick_id = $2 and finished_at is null

-- name: sched_close_large
-- Tells whether the monitor began to fail, or works again.
with closed as (
  update monitor_sched s
  set :sched_closed, open_large = false
  from (select $2::bigint, $3::int, $4::boolean, $5::boolean) as u(tick_id, check_ms, completed, failed)
  where s.monitor_id = $1 and s.open_tick_id = u.tick_id
  returning s.monitor_id, s.org_id, s.failing_since is not null as fails, s.turned_tick_id = u.tick_id as turned
)
select monitor_id, org_id, fails from closed where turned
