-- fragment: endpoint_origin
-- How an endpoint e is called: a path may hold a secret of the receiver's.
e.scheme || '://' || split_part(e.host, '/', 1) || ':' || e.port

-- fragment: receiver_fails
-- Of an endpoint e, if there is one: its breaker is open from the failure that opens it to the first success.
coalesce(e.available_at > '-infinity', false)

-- name: endpoint_try
-- Of endpoints whose breaker is open, those that may be tried now: one process gets each, once an interval.
update endpoint e set available_at = now() + $2 * interval '1 millisecond'
where e.id = any($1::uuid[]) and e.available_at <= now()
returning e.id

-- name: endpoint_find
-- For key share: maintenance must not forget it meanwhile.
select id from endpoint where org_id = $1 and scheme = $2 and host = endpoint_host($3, $5) and port = $4
for key share

-- name: endpoint_insert
insert into endpoint (id, org_id, scheme, host, port) values ($1, $2, $3, endpoint_host($4, $6), $5)
on conflict (org_id, scheme, host, port) do nothing

-- name: endpoint_page
-- The receivers behind $1, at most $2, and whether something still refers to them.
select e.id,
  exists (select from monitor m where m.endpoint_id = e.id)
    or exists (select from delivery d where d.state = :delivery_pending and d.endpoint_id = e.id)
    or exists (select from job j where j.finished_at is null and j.endpoint_id = e.id)
    or exists (select from job_block b join job j on j.id = b.job_id
               where b.endpoint_id = e.id and j.finished_at is null) as used
from endpoint e
where e.id > $1
order by e.id
limit $2

-- name: endpoint_forget
-- Not one that somebody is just about to use (endpoint_find): what is left comes next time.
delete from endpoint
where id in (
  select e.id from endpoint e
  where e.id = any ($1::uuid[])
    and not exists (select from monitor m where m.endpoint_id = e.id)
    and not exists (select from delivery d where d.state = :delivery_pending and d.endpoint_id = e.id)
    and not exists (select from job j where j.finished_at is null and j.endpoint_id = e.id)
    and not exists (select from job_block b join job j on j.id = b.job_id
                    where b.endpoint_id = e.id and j.finished_at is null)
  for update skip locked)

-- name: endpoints_succeeded
-- $2 failures at which a breaker was open. Tells which ones closed.
with opened as (
  select e.id, e.org_id, :endpoint_origin as receiver
  from endpoint e where e.id = any ($1::uuid[]) and e.failures >= $2
), closed as (
update endpoint set failures = 0, failing_since = null, failed_at = null, available_at = '-infinity'
where id in (select unnest($1::uuid[]) order by 1) and (failures > 0 or available_at > '-infinity')
returning id
)
select o.id, o.org_id, o.receiver from opened o join closed c using (id)

-- name: endpoints_failed
-- $3 failures at which the breaker opens, $4 for how many ms. Tells which ones opened.
with failed as (
update endpoint e
set failures = e.failures + u.failures, failing_since = coalesce(e.failing_since, now()), failed_at = now(),
    available_at = case when e.failures + u.failures >= $3
                        then greatest(e.available_at, now() + $4 * interval '1 millisecond')
                        else e.available_at end
from unnest($1::uuid[], $2::int[]) as u(id, failures)
where e.id = u.id
returning e.id, e.org_id, :endpoint_origin as receiver, e.failures, u.failures as more
)
select id, org_id, receiver from failed where failures >= $3 and failures - more < $3
