-- Statements that run for every check take their arrays apart in a select list, one row at a time. unnest of several
-- arrays in a FROM clause first writes each array into a table of its own, and reads those beside each other. Times come
-- as microseconds since the epoch (store/param.h).

-- name: record_lock_chunks
select c.id, c.reserved_mc, c.month, now()
from unnest($1::uuid[], $2::uuid[]) as u(id, token)
join chunk c on c.id = u.id and c.lease_token = u.token
order by c.id
for update of c

-- fragment: row_states_update
update row_state s
set last_tick_id = r.tick_id,
    outcome = get_byte(r.outcomes, s.position - r.first),
    last_run_at = case when get_byte(r.outcomes, s.position - r.first) in (:outcome_changed, :outcome_unchanged)
                       then r.looked_until else s.last_run_at end
from (select unnest($1::uuid[]) as monitor_id, unnest($2::bigint[]) as tick_id, unnest($3::int[]) as first,
             unnest($4::bytea[]) as outcomes,
             timestamptz 'epoch' + unnest($5::bigint[]) * interval '1 microsecond' as looked_until) as r
where s.monitor_id = r.monitor_id
  and s.position >= r.first and s.position < r.first + length(r.outcomes)
  and get_byte(r.outcomes, s.position - r.first) <> :outcome_none

-- name: record_row_states
-- $4 outcomes, one byte a position, 0 = none; $5 what the completed checks looked at ended then. The answer's tag says how
-- many rows it wrote: to return and count them would cost every check a row of its own.
:row_states_update
  and s.last_tick_id < r.tick_id

-- name: record_events
insert into event (id, org_id, monitor_id, row_id, tick_id, event_group_id, event_type, field,
                   previous_value, current_value, message, evidence, sources, confidence)
select unnest($1::uuid[]), unnest($2::uuid[]), unnest($3::uuid[]), unnest($4::uuid[]), unnest($5::bigint[]),
       unnest($6::uuid[]), unnest($7::smallint[]), unnest($8::text[]), unnest($9::json[]), unnest($10::json[]),
       unnest($11::text[]), unnest($12::text[]), unnest($13::json[]), unnest($14::float8[])

-- name: record_rows
update monitor_row r
set baseline = coalesce(u.baseline, r.baseline), known = coalesce(u.known, r.known), pending = u.pending,
    seen = case when u.seen is null then r.seen else coalesce(r.seen, '{}') || u.seen end,
    struct_version = u.struct_version, updated_at = now()
from (select unnest($1::uuid[]) as monitor_id, unnest($2::int[]) as position, unnest($3::json[]) as baseline,
             unnest($4::json[]) as known, unnest($5::json[]) as pending, unnest($6::jsonb[]) as seen,
             unnest($7::int[]) as struct_version) as u
where r.monitor_id = u.monitor_id and r.position = u.position

-- name: record_deliveries
-- To where the monitor sends now, which may have changed since the claim. One whose receiver is another one by now is
-- left to the deliverer that claims it. Tells of the monitors $10 where they send.
with written as (
  insert into delivery (id, org_id, endpoint_id, monitor_id, row_id, event_group_id, type, available_at,
                        lease_token)
  select u.id, u.org_id, m.endpoint_id, u.monitor_id, u.row_id, u.event_group_id, u.type,
         case when u.lease_token is null or m.endpoint_id <> u.endpoint_id then now()
              else now() + $9 * interval '1 millisecond' end,
         case when m.endpoint_id = u.endpoint_id then u.lease_token end
  from (select unnest($1::uuid[]) as id, unnest($2::uuid[]) as org_id, unnest($3::uuid[]) as endpoint_id,
               unnest($4::uuid[]) as monitor_id, unnest($5::uuid[]) as row_id, unnest($6::uuid[]) as event_group_id,
               unnest($7::smallint[]) as type, unnest($8::uuid[]) as lease_token) as u
  join monitor m on m.id = u.monitor_id
  where m.webhook_url is not null
)
select :target_columns from monitor where id = any($10::uuid[])

-- name: record_log
insert into check_log (monitor_id, block, tick_id, first, org_id, outcomes, check_ms)
select unnest($1::uuid[]), unnest($2::int[]), unnest($3::bigint[]), unnest($4::smallint[]), unnest($5::uuid[]),
       unnest($6::bytea[]), unnest($7::int[])

-- name: record_ticks
insert into tick (monitor_id, tick_id, org_id, trigger, due_at, started_at, finished_at, slots, row_count,
                  outcomes)
select u.monitor_id, u.tick_id, u.org_id, u.trigger, u.due_at, u.started_at, now(), u.slots,
       length(u.outcomes), u.outcomes
from (select unnest($1::uuid[]) as monitor_id, unnest($2::bigint[]) as tick_id, unnest($3::uuid[]) as org_id,
             unnest($4::smallint[]) as trigger,
             timestamptz 'epoch' + unnest($5::bigint[]) * interval '1 microsecond' as due_at,
             timestamptz 'epoch' + unnest($6::bigint[]) * interval '1 microsecond' as started_at,
             unnest($7::int[]) as slots, unnest($8::bytea[]) as outcomes) as u

-- fragment: sched_closed
-- Of a monitor_sched s whose open tick u (tick_id, check_ms, completed, failed) ends. Whether the monitor began to fail,
-- or works again: what an UPDATE returns is the new row alone, so the row says itself at which tick it turned. To read the
-- old rows beside would cost a fifth of record_close_ticks more.
open_tick_id = null, open_due_at = null, open_started_at = null, open_slots = null, open_rows = null,
  open_trigger = null, check_ms = case when u.check_ms > 0 then u.check_ms else s.check_ms end,
  failing_since = case when u.completed then null when u.failed then coalesce(s.failing_since, s.open_started_at)
                       else s.failing_since end,
  turned_tick_id = case when s.failing_since is not null and u.completed
                          or s.failing_since is null and u.failed and not u.completed
                        then u.tick_id else s.turned_tick_id end

-- name: record_close_ticks
-- Tells which monitors began to fail, or work again.
with closed as (
  update monitor_sched s
  set :sched_closed
  from (select unnest($1::uuid[]) as monitor_id, unnest($2::bigint[]) as tick_id, unnest($3::int[]) as check_ms,
               unnest($4::boolean[]) as completed, unnest($5::boolean[]) as failed) as u
  where s.monitor_id = u.monitor_id and s.open_tick_id = u.tick_id
  returning s.monitor_id, s.org_id, s.failing_since is not null as fails, s.turned_tick_id = u.tick_id as turned
)
select monitor_id, org_id, fails from closed where turned

-- name: record_charges
insert into credit_entry (org_id, team_id, amount_mc, checks, tier, chunk_id)
select u.org_id, u.team_id, -u.amount_mc, u.checks, u.tier, u.chunk_id
from unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::int[], $5::smallint[], $6::uuid[])
  as u(org_id, team_id, amount_mc, checks, tier, chunk_id)

-- name: record_progress
-- Chunks that go on: what is charged leaves the reservation, and progress resets the count of claims.
update chunk c set reserved_mc = c.reserved_mc - u.amount_mc, claims = 0
from unnest($1::uuid[], $2::bigint[]) as u(id, amount_mc)
where c.id = u.id

-- name: record_delete_chunks
delete from chunk where id = any($1::uuid[])
