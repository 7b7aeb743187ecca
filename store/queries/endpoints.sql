-- fragment: endpoint_origin
-- How an endpoint e is called: a path may hold a secret of the receiver's.
e.scheme || '://' || split_part(e.host, '/', 1) || ':' || e.port

-- fragment: receiver_fails
-- Whether there is an endpoint e whose breaker is open: that is from the failure that opens it to the first success.
coalesce(e.available_at > '-infinity', false)

-- name: endpoint_try
-- Those endpoints whose breaker is open that may be tried now: one process gets each, once an interval.
update endpoint e set available_at = now() + @breaker_interval_ms * interval '1 millisecond'
where e.id = any(@ids::uuid[]) and e.available_at <= now()
returning e.id

-- name: endpoint_find
-- For key share: maintenance must not forget it meanwhile.
select id from endpoint where org_id = @org_id and scheme = @scheme and host = endpoint_host(@host, @path)
       and port = @port
for key share

-- name: endpoint_insert
insert into endpoint (id, org_id, scheme, host, port) values (@id, @org_id, @scheme, endpoint_host(@host, @path), @port)
on conflict (org_id, scheme, host, port) do nothing

-- name: endpoint_page
-- The receivers behind @after, at most @limit, and whether something still refers to them.
select e.id,
  exists (select from monitor m where m.endpoint_id = e.id and m.deleted_at is null)
    or exists (select from channel c where c.endpoint_id = e.id)
    or exists (select from delivery d where d.state :are_pending and d.endpoint_id = e.id)
    or exists (select from job j where j.finished_at is null and j.endpoint_id = e.id)
    or exists (select from job_block b join job j on j.id = b.job_id
               where b.endpoint_id = e.id and j.finished_at is null)
    or e.org_id in :arriving as used
from endpoint e
where e.id > @after
order by e.id
limit @limit

-- name: endpoint_forget
-- Not one that somebody is just about to use (endpoint_find): what is left comes next time. A deleted monitor, which is
-- kept as long as its history, names it no longer.
with unnamed as (
  update monitor set webhook_url = null, endpoint_id = null
  where endpoint_id = any (@ids::uuid[]) and deleted_at is not null
)
delete from endpoint
where id in (
  select e.id from endpoint e
  where e.id = any (@ids::uuid[])
    and not exists (select from monitor m where m.endpoint_id = e.id and m.deleted_at is null)
    and not exists (select from channel c where c.endpoint_id = e.id)
    and not exists (select from delivery d where d.state :are_pending and d.endpoint_id = e.id)
    and not exists (select from job j where j.finished_at is null and j.endpoint_id = e.id)
    and not exists (select from job_block b join job j on j.id = b.job_id
                    where b.endpoint_id = e.id and j.finished_at is null)
  for update skip locked)

-- name: endpoints_settled
-- Receivers with their failures, none of those that work, in the order of their ids, in which all are locked. At
-- @breaker_failures the breaker opens, for @breaker_interval_ms. Tells which ones opened and which closed.
with open as (
  select e.id from endpoint e where e.id = any (@id::uuid[]) and e.failures >= @breaker_failures
), settled as (
update endpoint e
set failures = case when u.failures > 0 then e.failures + u.failures else 0 end,
    failing_since = case when u.failures > 0 then coalesce(e.failing_since, now()) end,
    failed_at = case when u.failures > 0 then now() end,
    available_at = case when u.failures = 0 then '-infinity'
                        when e.failures + u.failures >= @breaker_failures
                        then greatest(e.available_at, now() + @breaker_interval_ms * interval '1 millisecond')
                        else e.available_at end
from unnest(@id::uuid[], @failures::int[]) as u(id, failures)
where e.id = u.id and (u.failures > 0 or e.failures > 0 or e.available_at > '-infinity')
returning e.id, e.org_id, :endpoint_origin as receiver, e.failures, u.failures as more
)
select id, org_id, receiver, more > 0 as opened from settled
where more > 0 and failures >= @breaker_failures and failures - more < @breaker_failures
   or more = 0 and id in (select id from open)
