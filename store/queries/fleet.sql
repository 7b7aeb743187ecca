-- name: member_heartbeat
-- The counters keep those of the heartbeat before, and when that was, so that one look at them gives rates.
insert into member (id, roles, version, host, pid, draining, counters, lanes, mail_check, providers)
values (@id, @roles::text[], @version, @host, @pid, @draining, @counters::json, @lanes::text[],
        @mail_check::json, @providers::json)
on conflict (id) do update
set heartbeat_at = now(), draining = excluded.draining,
    counters = (excluded.counters::jsonb || jsonb_build_object(
      'before', member.counters::jsonb - 'before' - 'before_at', 'before_at', member.heartbeat_at))::json,
    lanes = excluded.lanes, mail_check = excluded.mail_check, providers = excluded.providers

-- name: member_forget
delete from member where heartbeat_at < now() - @member_shown_s::bigint * interval '1 second'

-- name: member_leave
delete from member where id = @member_id

-- name: gauges
-- @limit deliveries of each state are looked at, so that the cost does not grow with a dead receiver's backlog. Due is
-- also what waits behind an open breaker.
select c.due, c.leased, c.waiting, c.oldest_due_us, p.pending, p.due as deliveries_due,
  (select count(*) from (select from delivery where state :are_dead limit @limit) s) as dead,
  p.oldest_pending_us,
  (select count(*) from endpoint e join organisation o on o.id = e.org_id where e.failing and o.lives_at is null)
    as receivers_failing,
  (select count(*) from monitor_sched s join monitor m on m.id = s.monitor_id
   where s.failing_since is not null and m.status = :status_active and m.archived_at is null) as monitors_failing
from (
  select count(*) as pending, count(*) filter (where available_at <= now()) as due,
    coalesce(extract(epoch from now() - min(created_at)) * 1000000, 0)::bigint as oldest_pending_us
  from (select created_at, available_at from delivery where state :are_pending limit @limit) s) p
cross join (
  select count(*) filter (where available_at <= now()) as due,
    count(*) filter (where available_at > now() and lease_token is not null) as leased,
    count(*) filter (where available_at > now() and lease_token is null) as waiting,
    coalesce(extract(epoch from now() - min(due_at) filter (where available_at <= now()))
             * 1000000, 0)::bigint as oldest_due_us
  from chunk) c
