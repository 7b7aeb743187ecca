-- name: row_ids
select id from monitor_row where monitor_id = $1 and position >= $2 and position < $3 order by position

-- name: row_list
-- Positions have no gaps. A range of keys with two ends, and a look at the index a row behind a fence, cost the
-- same for every page under any plan; others read the rest of a monitor through, and look cheap while the table grows
-- faster than it is analyzed.
-- The rows' bytes are added up here, so that no more are sent than a page may hold ($4).
select * from (
  select r.id, r.position, r.subject, r.context, r.baseline, r.pending, r.is_active, r.disabled_reason, r.created_at,
         r.updated_at, s.last_run_at, b.bytes,
         sum(b.bytes) over (order by r.position rows unbounded preceding) as bytes_until
  from monitor_row r
  cross join lateral (
    select last_run_at from row_state where monitor_id = r.monitor_id and position = r.position offset 0
  ) s
  cross join lateral (
    select octet_length(r.subject::text) + coalesce(octet_length(r.context::text), 0)
           + octet_length(r.baseline::text) + coalesce(octet_length(r.pending::text), 0) as bytes
  ) b
  where r.monitor_id = $1 and r.position > $2 and r.position <= $2::bigint + $3
) page
where bytes_until - bytes < $4
order by position

-- name: row_get
select r.id, r.position, r.subject, r.context, r.baseline, r.pending, r.is_active, r.disabled_reason, r.created_at,
       r.updated_at, s.last_run_at
from monitor_row r
join row_state s on s.monitor_id = r.monitor_id and s.position = r.position
where r.id = $2 and r.monitor_id = $1

-- name: row_list_stale
select * from (
  select r.*, b.bytes, sum(b.bytes) over (order by r.position rows unbounded preceding) as bytes_until
  from (
    select r.id, r.position, r.subject, r.context, r.baseline, r.pending, r.is_active, r.disabled_reason,
           r.created_at, r.updated_at, s.last_run_at
    from monitor_row r
    cross join lateral (
      select last_run_at from row_state where monitor_id = r.monitor_id and position = r.position offset 0
    ) s
    where r.monitor_id = $1 and r.position > $2 and r.position <= $3
      and r.is_active and coalesce(s.last_run_at, r.created_at) < now() - make_interval(secs => $4)
    order by r.position
    limit $5
  ) r
  cross join lateral (
    select octet_length(r.subject::text) + coalesce(octet_length(r.context::text), 0)
           + octet_length(r.baseline::text) + coalesce(octet_length(r.pending::text), 0) as bytes
  ) b
) page
where bytes_until - bytes < $6
order by position

-- name: row_insert
insert into monitor_row (monitor_id, position, id, org_id, key_hash, subject, context, baseline)
select $1, $2::int + r.n - 1, r.id, $3, r.key_hash, r.subject, r.context, r.baseline
from unnest($4::uuid[], $5::bytea[], $6::json[], $7::json[], $8::json[])
     with ordinality as r(id, key_hash, subject, context, baseline, n)

-- name: row_state_insert
insert into row_state (monitor_id, position) select $1, generate_series($2::int, $3::int - 1)

-- name: row_find_keys
-- One look at the index a key, behind a fence: the planner, which expects to find something soon, would read the
-- whole monitor through.
select found.key_hash, found.position
from unnest($2::bytea[]) as k(hash)
cross join lateral (
  select key_hash, position from monitor_row where monitor_id = $1 and key_hash = k.hash offset 0
) found
limit 1

-- name: row_counts
select row_count from monitor_sched where monitor_id = $1

-- name: row_counts_add
update monitor_sched set row_count = row_count + $2, active_row_count = active_row_count + $2 where monitor_id = $1

-- name: row_switch
-- One row where it was there; `moved` is what it adds to the active ones.
with old as (
  select id, is_active from monitor_row where id = $2 and monitor_id = $1 for update
), switched as (
  update monitor_row r
  set is_active = $3, disabled_reason = $4, updated_at = now()
  from old
  where r.id = old.id
)
select case when is_active = $3 then 0 when $3 then 1 else -1 end as moved from old

-- name: row_switch_count
update monitor_sched set active_row_count = active_row_count + $2 where monitor_id = $1

-- name: monitor_touch
update monitor set updated_at = now() where id = $1
