-- name: signing_secrets_read
-- $1 organisations. Newest first: the one without an end, then by id.
select org_id, id, sealed, encryption_key_id, retires_at is null or retires_at > now() as live
from signing_secret
where org_id = any ($1::uuid[])
order by org_id, (retires_at is null) desc, created_at desc, id desc

-- name: signing_secrets_of_org
-- $1 organisation; $2 limit. Newest first.
select id, sealed, encryption_key_id, created_at, retires_at, retires_at is null or retires_at > now() as live
from signing_secret
where org_id = $1
order by (retires_at is null) desc, created_at desc, id desc
limit $2

-- name: signing_secrets_by_key
-- Live ones, and monitors with request headers, by the encryption key that they were sealed with.
select key_id, sum(secrets)::bigint, sum(organisations)::bigint, sum(monitors)::bigint
from (
  select encryption_key_id as key_id, count(*) as secrets, count(distinct org_id) as organisations, 0 as monitors
  from signing_secret
  where retires_at is null or retires_at > now()
  group by encryption_key_id
  union all
  select request_headers_key_id, 0, 0, count(*)
  from monitor
  where request_headers is not null
  group by request_headers_key_id
) by_kind
group by key_id
order by key_id

-- name: signing_secrets_to_reseal
-- Of those that were sealed with one of the keys $1, at most $2.
select id, sealed, encryption_key_id
from signing_secret
where encryption_key_id = any ($1::text[])
order by id
limit $2
for update

-- name: signing_secrets_reseal
update signing_secret s
set sealed = u.sealed, encryption_key_id = $3
from unnest($1::uuid[], $2::bytea[]) as u(id, sealed)
where s.id = u.id

-- name: request_headers_to_reseal
-- Of monitors whose request headers were sealed with one of the keys $1, at most $2.
select id, org_id, request_headers, request_headers_key_id
from monitor
where request_headers is not null and request_headers_key_id = any ($1::text[])
order by request_headers_key_id, id
limit $2
for no key update

-- name: request_headers_reseal
update monitor m
set request_headers = u.sealed, request_headers_key_id = $3
from unnest($1::uuid[], $2::bytea[]) as u(id, sealed)
where m.id = u.id

-- name: signing_secrets_lock_org
select id from organisation where id = $1 for update

-- name: signing_secrets_retire_former
-- $2 seconds of overlap. One that retires earlier already is left to it.
update signing_secret
set retires_at = least(coalesce(retires_at, 'infinity'), now() + $2::bigint * interval '1 second')
where org_id = $1 and (retires_at is null or retires_at > now())

-- name: signing_secret_insert
insert into signing_secret (id, org_id, sealed, encryption_key_id) values ($1, $2, $3::bytea, $4)

-- name: signing_secrets_retire_surplus
-- $2 how many may be live.
update signing_secret
set retires_at = now()
where id in (
  select id from signing_secret
  where org_id = $1 and (retires_at is null or retires_at > now())
  order by (retires_at is null) desc, created_at desc, id desc
  offset $2)
