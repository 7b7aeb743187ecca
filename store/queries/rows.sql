-- name: row_ids
select id from monitor_row where monitor_id = @monitor_id and position >= @from and position < @until order by position

-- fragment: row_columns
-- The columns of a monitor_row r with its state s.
r.id, r.position, r.subject, r.context, r.baseline, r.pending, r.known, r.seen, r.struct_version, r.is_active,
  r.disabled_reason, r.created_at, r.updated_at, s.last_run_at, :row_fails as failing

-- fragment: completed_tick
-- Before it a row with its state s worked the last time.
coalesce(extract(epoch from s.last_run_at) * 1000000, 0)::bigint

-- fragment: row_fails
-- Whether the last check of a row r with its state s failed. What was skipped since was no check: then the events tell,
-- by a look at their index.
case when s.outcome <= :outcome_failed then s.outcome = :outcome_failed
     else (select true from event
           where row_id = r.id and event_type = :event_error and tick_id > :completed_tick
           order by tick_id limit 1) is not null end

-- fragment: row_page_columns
id, position, subject, context, baseline, pending, known, seen, struct_version, is_active, disabled_reason, created_at,
  updated_at, last_run_at, failing

-- fragment: row_bytes
-- What a row r adds to a page.
octet_length(r.subject::text) + coalesce(octet_length(r.context::text), 0) + octet_length(r.baseline::text)
  + coalesce(octet_length(r.pending::text), 0) + coalesce(octet_length(r.known::text), 0)
  + coalesce(octet_length(r.seen::text), 0)

-- name: row_list
-- Positions have no gaps. A range of keys with two ends, and a look at the index a row behind a fence, cost the
-- same for every page under any plan; others read the rest of a monitor through, and look cheap while the table grows
-- faster than it is analyzed.
-- The rows' bytes are added up here, so that no more are sent than a page may hold (@bytes_max).
select :row_page_columns, removed, bytes_until from (
  select :row_columns, r.removed_at is not null as removed, b.bytes,
         sum(b.bytes) over (order by r.position rows unbounded preceding) as bytes_until
  from monitor_row r
  :state_of_r
  cross join lateral (
    select :row_bytes as bytes
  ) b
  where r.monitor_id = @monitor_id and r.position > @after and r.position <= @after::bigint + @limit
) page
where bytes_until - bytes < @bytes_max
order by position

-- fragment: row_failure
-- The time since which the checks of a row r with its state s fail, and what the last one said; nothing where the last
-- one did not fail (:row_fails), or where its events are gone by now. A look at either end of the index.
left join lateral (
  select to_timestamp(oldest.tick_id / 1e6) as failing_since, newest.message as failure_message
  from (select :completed_tick as tick_id) completed
  cross join lateral (
    select tick_id from event
    where row_id = r.id and event_type = :event_error and tick_id > completed.tick_id
    order by tick_id limit 1
  ) oldest
  cross join lateral (
    select message from event
    where row_id = r.id and event_type = :event_error and tick_id > completed.tick_id
    order by tick_id desc limit 1
  ) newest
) f on s.outcome >= :outcome_failed

-- name: row_get
select :row_columns, f.failing_since, f.failure_message
from monitor_row r
:state_of_r
:row_failure
where r.id = @row_id and r.monitor_id = @monitor_id and r.removed_at is null

-- name: row_failures
-- Failures of the rows at @positions, which look as if they failed.
select r.position, f.failing_since, f.failure_message
from monitor_row r
:state_of_r
:row_failure
where r.monitor_id = @monitor_id and r.position = any (@positions::int[])

-- name: row_id_by_key
select id from monitor_row where monitor_id = @monitor_id and key_hash = @key_hash

-- name: row_list_chosen
-- Those rows in (@after, @last] that are switched on: the failing ones (@failing), or those that were not checked in
-- time.
select :row_page_columns, failing_since, failure_message, bytes_until from (
  select r.*, b.bytes, sum(b.bytes) over (order by r.position rows unbounded preceding) as bytes_until
  from (
    select :row_columns, f.failing_since, f.failure_message
    from monitor_row r
    :state_of_r
    :row_failure
    where r.monitor_id = @monitor_id and r.position > @after and r.position <= @last and r.is_active
      and r.removed_at is null
      and case when @failing::boolean then :row_fails
               else coalesce(s.last_run_at, r.created_at) < now() - make_interval(secs => @frequency_s) end
    order by r.position
    limit @limit
  ) r
  cross join lateral (
    select :row_bytes as bytes
  ) b
) page
where bytes_until - bytes < @bytes_max
order by position

-- name: row_insert
-- What is given counts as observed with the struct of now.
insert into monitor_row (monitor_id, position, id, org_id, key_hash, subject, context, baseline, struct_version)
select @monitor_id, @position::int + r.n - 1, r.id, @org_id, r.key_hash, r.subject, r.context, r.baseline,
       (select struct_version from monitor where id = @monitor_id)
from unnest(@id::uuid[], @key_hash::bytea[], @subject::json[], @context::json[], @baseline::json[])
     with ordinality as r(id, key_hash, subject, context, baseline, n)

-- name: row_find_keys
-- One look at the index a key, behind a fence: the planner, which expects to find something soon, would read the
-- whole monitor through.
select found.key_hash, found.position
from unnest(@key_hashes::bytea[]) as k(hash)
cross join lateral (
  select key_hash, position from monitor_row where monitor_id = @monitor_id and key_hash = k.hash offset 0
) found
limit 1

-- name: row_counts
select row_count from monitor_sched where monitor_id = @monitor_id

-- name: row_counts_add
update monitor_sched set row_count = row_count + @added, active_row_count = active_row_count + @added
  where monitor_id = @monitor_id

-- name: row_switch
-- One row where it was there; `moved` is what it adds to the active ones.
with old as (
  select id, is_active from monitor_row where id = @row_id and monitor_id = @monitor_id
         and removed_at is null for update
), switched as (
  update monitor_row r
  set is_active = @is_active, disabled_reason = @disabled_reason, updated_at = now()
  from old
  where r.id = old.id
  returning r.position
), told as (
  insert into row_switch (monitor_id, position, is_active)
  select @monitor_id, position, @is_active from switched
  on conflict (monitor_id, position) do update set is_active = excluded.is_active, switched_at = now()
), forgotten as (
  delete from row_switch s
  using (select monitor_id, position from row_switch
         where switched_at < now() - interval '10 minutes' and (monitor_id, position) not in (
           select @monitor_id, position from switched)
         limit 1000 for update skip locked) old_ones
  where s.monitor_id = old_ones.monitor_id and s.position = old_ones.position
)
select case when is_active = @is_active then 0 when @is_active then 1 else -1 end as moved from old

-- name: row_switch_count
update monitor_sched set active_row_count = active_row_count + @moved where monitor_id = @monitor_id

-- name: row_remove
-- Its place stays; its key is free. One row where it was there: whether it was active.
with old as (
  select id, is_active from monitor_row where id = @row_id and monitor_id = @monitor_id
         and removed_at is null for update
), removed as (
  update monitor_row r
  set removed_at = now(), is_active = false, disabled_reason = 'removed', updated_at = now(),
      key_hash = uuid_send(gen_random_uuid())
  from old
  where r.id = old.id
)
select is_active from old

-- name: row_remove_count
update monitor_sched
set active_row_count = active_row_count - @active, removed_row_count = removed_row_count + 1
where monitor_id = @monitor_id

-- name: row_context
select subject, context from monitor_row where id = @row_id and monitor_id = @monitor_id and removed_at is null for update

-- name: row_set_context
update monitor_row set context = @context::json, updated_at = now() where id = @row_id and monitor_id = @monitor_id
