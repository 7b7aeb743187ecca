-- name: signing_secrets_read
-- Newest first: the one without an end, then by id.
select org_id, id, sealed, encryption_key_id, retires_at is null or retires_at > now() as live
from signing_secret
where org_id = any (@org_ids::uuid[])
order by org_id, (retires_at is null) desc, created_at desc, id desc

-- name: signing_secrets_of_org
-- Newest first.
select id, sealed, encryption_key_id, created_at, retires_at, retires_at is null or retires_at > now() as live
from signing_secret
where org_id = @org_id
order by (retires_at is null) desc, created_at desc, id desc
limit @limit

-- name: signing_secrets_by_key
-- Live ones, monitors with request headers or secrets, and channels with sealed addresses, by the encryption key that they were
-- sealed with.
select key_id, sum(secrets)::bigint as secrets, sum(organisations)::bigint as organisations,
       sum(monitors)::bigint as monitors, sum(channels)::bigint as channels
from (
  select encryption_key_id as key_id, count(*) as secrets, count(distinct org_id) as organisations, 0 as monitors,
         0 as channels
  from signing_secret
  where retires_at is null or retires_at > now()
  group by encryption_key_id
  union all
  select request_headers_key_id, 0, 0, count(*), 0
  from monitor
  where request_headers is not null
  group by request_headers_key_id
  union all
  select secrets_key_id, 0, 0, count(*), 0
  from monitor_login
  where secrets is not null
  group by secrets_key_id
  union all
  select sealed_url_key_id, 0, 0, 0, count(*)
  from channel
  where sealed_url is not null
  group by sealed_url_key_id
) by_kind
group by key_id
order by key_id

-- name: signing_secrets_to_reseal
-- Secrets that were sealed with one of the former keys, at most @limit.
select id, sealed, encryption_key_id
from signing_secret
where encryption_key_id = any (@former_key_id::text[])
order by id
limit @limit
for update

-- name: signing_secrets_reseal
update signing_secret s
set sealed = u.sealed, encryption_key_id = @encryption_key_id
from unnest(@id::uuid[], @sealed::bytea[]) as u(id, sealed)
where s.id = u.id

-- name: request_headers_to_reseal
-- Monitors whose request headers were sealed with one of the former keys, at most @limit.
select id, org_id, request_headers as sealed, request_headers_key_id as key_id
from monitor
where request_headers is not null and request_headers_key_id = any (@former_key_id::text[])
order by request_headers_key_id, id
limit @limit
for no key update

-- name: request_headers_reseal
update monitor m
set request_headers = u.sealed, request_headers_key_id = @encryption_key_id
from unnest(@id::uuid[], @sealed::bytea[]) as u(id, sealed)
where m.id = u.id

-- name: probe_secrets_to_reseal
-- Monitors whose steps type secrets that were sealed with one of the former keys, at most @limit.
select monitor_id as id, org_id, secrets as sealed, secrets_key_id as key_id
from monitor_login
where secrets is not null and secrets_key_id = any (@former_key_id::text[])
order by secrets_key_id, monitor_id
limit @limit
for no key update

-- name: probe_secrets_reseal
update monitor_login l
set secrets = u.sealed, secrets_key_id = @encryption_key_id
from unnest(@id::uuid[], @sealed::bytea[]) as u(id, sealed)
where l.monitor_id = u.id

-- name: signing_secrets_lock_org
select id from organisation where id = @org_id for update

-- name: signing_secrets_retire_former
-- The overlap is @overlap_s. One that retires earlier already is left to it.
update signing_secret
set retires_at = least(coalesce(retires_at, 'infinity'), now() + @overlap_s::bigint * interval '1 second')
where org_id = @org_id and (retires_at is null or retires_at > now())

-- name: signing_secret_insert
insert into signing_secret (id, org_id, sealed, encryption_key_id)
values (@id, @org_id, @sealed::bytea, @encryption_key_id)
returning created_at

-- name: signing_secret_retire
-- Retires a live secret that has an end at once. Returns whether it is the one without an end, which stays.
with found as (
  select id, retires_at is null as is_current from signing_secret
  where org_id = @org_id and id = @secret_id and (retires_at is null or retires_at > now())
), retired as (
  update signing_secret s set retires_at = now() from found f where s.id = f.id and not f.is_current
)
select is_current from found

-- name: signing_secrets_retire_surplus
-- At most @live_max may be live.
update signing_secret
set retires_at = now()
where id in (
  select id from signing_secret
  where org_id = @org_id and (retires_at is null or retires_at > now())
  order by (retires_at is null) desc, created_at desc, id desc
  offset @live_max)
