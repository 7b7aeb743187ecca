-- name: member_heartbeat
insert into member (id, roles, version, host, pid, draining, counters, check_ms)
values ($1, $2::text[], $3, $4, $5, $6, $7::json, $8::int[])
on conflict (id) do update
set heartbeat_at = now(), draining = excluded.draining, counters = excluded.counters, check_ms = excluded.check_ms

-- name: member_forget
delete from member where heartbeat_at < now() - interval '1 day'

-- name: member_leave
delete from member where id = $1

-- name: maintenance_lock
select pg_try_advisory_xact_lock(8386094145001)

-- name: partitions_ensure
select ensure_partitions(now(), 4)

-- name: partitions_old
-- Partitions whose week ended before the retention of their table. The names are ensure_partitions'.
select c.relname
from pg_inherits i join pg_class c on c.oid = i.inhrelid join pg_class p on p.oid = i.inhparent
where p.relname = $1 and c.relname ~ '_[0-9]{8}$' and c.relnamespace = 'public'::regnamespace
  and to_date(right(c.relname, 8), 'YYYYMMDD') + 7
      < (now() at time zone 'UTC')::date - ($2 * interval '1 hour')

-- name: idempotency_retire
delete from idempotency_key
where (org_id, key) in (select org_id, key from idempotency_key
                        where created_at < now() - $1 * interval '1 hour' limit 1000)

-- name: rate_window_expire
delete from rate_window where minute_at < now() - interval '10 minutes'

-- name: dead_expire
delete from delivery
where id in (select id from delivery where state = 1 and created_at < now() - $1 * interval '1 hour'
             limit 1000)

-- name: audit_expire
delete from audit
where id in (select id from audit where at < now() - $1 * interval '1 hour' limit 1000)

-- name: gauges
select c.due, c.leased, c.waiting, c.oldest_due_us,
  (select count(*) from delivery where state = 0) as pending,
  (select count(*) from delivery where state = 1) as dead,
  coalesce((select extract(epoch from now() - min(created_at)) * 1000000
            from delivery where state = 0), 0)::bigint as oldest_pending_us,
  (select count(*) from endpoint where failing) as receivers_failing
from (
  select count(*) filter (where available_at <= now()) as due,
    count(*) filter (where available_at > now() and lease_token is not null) as leased,
    count(*) filter (where available_at > now() and lease_token is null) as waiting,
    coalesce(extract(epoch from now() - min(due_at) filter (where available_at <= now()))
             * 1000000, 0)::bigint as oldest_due_us
  from chunk) c
