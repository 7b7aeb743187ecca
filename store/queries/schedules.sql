-- fragment: from_due_place
-- Schedules s from the place on that the parameters name, in the order in which monitors are due.
(s.next_run_at, s.org_id, s.monitor_id) >= (@from_at::timestamptz, @from_org_id::uuid, @from_monitor_id::uuid)

-- fragment: due_order
s.next_run_at, s.org_id, s.monitor_id

-- name: sched_due
-- Those that are due, or about to be (kCutAhead), and their places in the table, which stay while they are locked.
select :sched_columns, s.ctid as place
from monitor_sched s
where s.live and s.next_run_at <= now() + :cut_ahead_ms * interval '1 millisecond' and :from_due_place
order by :due_order
limit @limit
for update skip locked

-- name: sched_next_due
-- When the scheduler looks again, whether large ticks are open, and the first schedule of all.
select now(),
       least(s.next_run_at, (select min(portion_at) from monitor_sched where portion_at is not null)) as next_due,
       (select count(*) > 0 from (select from monitor_sched where open_large limit 1) l) as large_open,
       s.next_run_at, s.org_id, s.monitor_id
from (select) as one
left join (select s.next_run_at, s.org_id, s.monitor_id from monitor_sched s
           where s.live and :from_due_place
           order by :due_order
           limit 1) s on true

-- name: sched_open_ticks
-- @portion_position may have nulls. Arrays are taken apart as in record.sql.
update monitor_sched s
set last_tick_id = u.tick_id, last_run_at = u.started_at, next_run_at = u.next_run_at,
    open_tick_id = u.tick_id, open_due_at = u.due_at, open_started_at = u.started_at, open_slots = u.slots,
    open_rows = s.row_count, open_trigger = u.trigger, open_large = u.large,
    portion_at = case when u.portion_position is null then null else now() end,
    portion_position = u.portion_position, portion_turn = null
from (select unnest(@monitor_id::uuid[]) as monitor_id, unnest(@tick_id::bigint[]) as tick_id,
             timestamptz 'epoch' + unnest(@next_run_at::bigint[]) * interval '1 microsecond' as next_run_at,
             timestamptz 'epoch' + unnest(@due_at::bigint[]) * interval '1 microsecond' as due_at,
             timestamptz 'epoch' + unnest(@started_at::bigint[]) * interval '1 microsecond' as started_at,
             unnest(@slots::int[]) as slots, unnest(@trigger::smallint[]) as trigger,
             unnest(@large::boolean[]) as large, unnest(@portion_position::int[]) as portion_position) as u
where s.monitor_id = u.monitor_id

-- name: sched_hold_ticks
-- Ticks that one chunk holds each: it says all about them, and while it is there they are open. This is all that is
-- written of a schedule for such a tick, unless its end changes how the monitor is. This transaction has locked them: at
-- @place is what sched_due has read.
update monitor_sched s
set last_tick_id = u.tick_id, last_run_at = u.started_at, next_run_at = u.next_run_at, chunk_id = u.chunk_id
from (select unnest(@place::tid[]) as place, unnest(@tick_id::bigint[]) as tick_id,
             timestamptz 'epoch' + unnest(@started_at::bigint[]) * interval '1 microsecond' as started_at,
             timestamptz 'epoch' + unnest(@next_run_at::bigint[]) * interval '1 microsecond' as next_run_at,
             unnest(@chunk_id::uuid[]) as chunk_id) as u
where s.ctid = u.place

-- name: sched_pass_ticks
-- Ticks that are closed at once, @at: the monitor moves on, its open tick stays.
update monitor_sched s
set last_tick_id = u.tick_id, last_run_at = @at, next_run_at = u.next_run_at
from unnest(@monitor_id::uuid[], @tick_id::bigint[], @next_run_at::timestamptz[]) as u(monitor_id, tick_id, next_run_at)
where s.monitor_id = u.monitor_id

-- name: sched_due_portions
select monitor_id, org_id, team_id, tier, frequency_s, anchor_at, open_tick_id, open_due_at,
       open_started_at, open_rows, open_trigger, portion_at, portion_position, portion_turn, check_ms
from monitor_sched
where portion_at is not null and portion_at <= now() + :cut_ahead_ms * interval '1 millisecond'
order by portion_at
limit @limit
for update skip locked

-- name: sched_set_portions
update monitor_sched s
set portion_at = u.portion_at, portion_position = u.portion_position, portion_turn = u.portion_turn
from unnest(@monitor_id::uuid[], @portion_at::timestamptz[], @portion_position::int[], @portion_turn::timestamptz[])
  as u(monitor_id, portion_at, portion_position, portion_turn)
where s.monitor_id = u.monitor_id

-- name: sched_closable
-- A chunk is not due before its tick. The first one is looked for by key: `not exists` would be a join, whose other side is
-- read whole where the queue was empty when it was last analyzed.
select s.monitor_id, s.open_tick_id, s.open_rows
from monitor_sched s
where s.open_large and s.portion_at is null
  and (select c.due_at from chunk c where c.monitor_id = s.monitor_id and c.due_at >= s.open_due_at
       order by c.due_at limit 1) is null
limit @limit
for update skip locked

-- name: sched_close_large
-- Tells whether the monitor began to fail, or works again.
with closed as (
  update monitor_sched s
  set :sched_closed, open_large = false
  from (select @tick_id::bigint, @check_ms::int, @completed::boolean, @failed::boolean, null::timestamptz)
    as u(tick_id, check_ms, completed, failed, started_at)
  where s.monitor_id = @monitor_id and s.open_tick_id = u.tick_id
  returning s.monitor_id, s.org_id, s.failing_since is not null as fails, s.turned_tick_id = u.tick_id as turned
)
select monitor_id, org_id, fails from closed where turned

-- name: sched_lock
-- A stopped monitor starts again by the clock, not by the time at which the transaction began: slots came and were
-- accounted for until the monitor and its organisation were locked.
select :sched_columns, s.live, clock_timestamp()
from monitor_sched s
where s.monitor_id = @monitor_id
for update

-- name: sched_live_of_monitor
-- Whether the organisation lets its monitors run; held until the transaction ends.
select o.monitors_run
from monitor m join organisation o on o.id = m.org_id
where m.id = @monitor_id
for share of o

-- name: sched_set_live
-- With their rows locked before. Whether a monitor is active is asked again: it may have been paused while that waited.
update monitor_sched s
set live = @live, next_run_at = coalesce(u.next_run_at, s.next_run_at)
from unnest(@monitor_id::uuid[], @next_run_at::timestamptz[]) as u(monitor_id, next_run_at)
where s.monitor_id = u.monitor_id
  and (not @live or exists (select from monitor m where m.id = u.monitor_id and m.status = :status_active))

-- name: sched_due_of_organisation
select :sched_columns
from monitor m join monitor_sched s on s.monitor_id = m.id
where m.org_id = @org_id and s.live and s.next_run_at <= now()
for update of s

-- name: sched_stop_organisation
update monitor_sched s set live = false
from monitor m
where m.org_id = @org_id and s.monitor_id = m.id and s.live

-- name: sched_stopped_of_organisation
-- Active monitors of an organisation that was stopped, and the clock as in sched_lock.
select s.monitor_id, s.anchor_at, s.frequency_s, s.schedule, clock_timestamp()
from monitor m join monitor_sched s on s.monitor_id = m.id
where m.org_id = @org_id and m.status = :status_active and not s.live
for update of s

-- name: sched_set_next
update monitor_sched set next_run_at = @next_run_at where monitor_id = @monitor_id
