-- name: overview_members
select id, roles, version, host, pid, started_at, heartbeat_at, draining, counters::text as counters, lanes,
  (extract(epoch from now() - heartbeat_at) * 1000)::bigint as heartbeat_age_ms,
  mail_check, providers
from member
where heartbeat_at > now() - @shown_s::bigint * interval '1 second'
order by heartbeat_at desc, id
limit @limit

-- name: overview_chunks
select now() as at,
  count(*) filter (where available_at <= now()) as due,
  count(*) filter (where available_at > now() and lease_token is not null) as leased,
  count(*) filter (where available_at > now() and lease_token is null) as waiting,
  coalesce(sum(row_count) filter (where available_at <= now()), 0)::bigint as checks_due,
  coalesce(sum(row_count) filter (where available_at > now() and lease_token is not null), 0)::bigint
    as checks_leased,
  (extract(epoch from now() - min(due_at) filter (where available_at <= now())) * 1000)::bigint
    as oldest_due_age_ms
from chunk

-- name: overview_deliveries
-- Counts up to @limit.
select
  (select count(*) from (select from delivery where state :are_pending limit @limit) s) as pending,
  (select count(*) from (select from delivery where state :are_dead limit @limit) s) as dead,
  (select (extract(epoch from now() - created_at) * 1000)::bigint
   from delivery where state :are_pending order by id limit 1) as oldest_pending_age_ms

-- name: overview_monitors
-- Counts up to @limit.
select
  (select count(*) from (select from monitor_sched where live limit @limit) s) as live,
  (select count(*) from (
     select from monitor_sched
     where live and next_run_at < now() - @late_s::bigint * interval '1 second' limit @limit) s) as late

-- name: overview_failing
-- Those of organisations that live elsewhere are told there.
select e.org_id, :endpoint_origin as address, e.failing_since, e.failed_at, e.failures, count(*) over () as total
from endpoint e
join organisation o on o.id = e.org_id
where e.failing and o.lives_at is null
order by e.failing_since
limit @limit

-- name: overview_backlog
select b.org_id, o.name, b.chunks, b.checks, b.oldest_due_age_ms
from (
  select org_id, count(*) as chunks, sum(row_count)::bigint as checks,
    (extract(epoch from now() - min(due_at)) * 1000)::bigint as oldest_due_age_ms
  from chunk
  where available_at <= now()
  group by org_id
  order by 3 desc
  limit @limit) b
join organisation o on o.id = b.org_id
order by b.checks desc, b.org_id

-- name: overview_late
select m.id, m.org_id, m.name, m.frequency, s.last_run_at, s.next_run_at,
  (extract(epoch from now() - s.next_run_at) * 1000)::bigint as late_ms
from monitor_sched s
join monitor m on m.id = s.monitor_id
where s.live and s.next_run_at < now() - @late_s::bigint * interval '1 second'
order by s.next_run_at
limit @limit

-- name: overview_monitors_failing
select m.id, m.org_id, m.name, s.failing_since, count(*) over () as total
from monitor_sched s
join monitor m on m.id = s.monitor_id
where s.failing_since is not null and m.status = :status_active and m.archived_at is null
order by s.failing_since
limit @limit
