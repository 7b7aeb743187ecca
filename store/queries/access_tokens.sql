-- name: assertion_take
-- $1 client; $2 the SHA-256 of the jti; $3 until when it is known. No row: it was taken before.
insert into assertion_jti (client_id, jti_sha256, expires_at) values ($1, $2::bytea, $3)
on conflict do nothing
returning client_id

-- name: access_tokens_live
select count(*) from access_token where principal_id = $1 and expires_at > now()

-- name: access_tokens_counted
-- Live ones by kind; $1 are looked at, so that the cost does not grow with them.
select count(*) filter (where kind = :principal_oauth_client) as client_tokens,
       count(*) filter (where kind = :principal_user) as sessions
from (select kind from access_token where expires_at > now() limit $1) s

-- name: access_token_insert
-- $9 seconds
insert into access_token
  (token_sha256, id, kind, org_id, team_id, principal_id, principal_version, user_id, expires_at)
values ($1::bytea, $2, $3, $4, $5, $6, $7, $8, now() + $9 * interval '1 second')
returning expires_at

-- name: access_token_revoke
-- $1 the SHA-256; $2 the client
delete from access_token where token_sha256 = $1::bytea and kind = :principal_oauth_client and principal_id = $2

-- name: access_token_introspect
-- $1 the SHA-256; $2 the organisation of the client that asks
select t.principal_id, t.created_at, t.expires_at
from access_token t
join oauth_client c on c.id = t.principal_id
where t.token_sha256 = $1::bytea and t.kind = :principal_oauth_client and t.org_id = $2 and t.expires_at > now()
  and not c.disabled and c.deleted_at is null and c.token_version = t.principal_version

-- name: access_token_expire
with gone as (
  delete from access_token
  where token_sha256 in (select token_sha256 from access_token where expires_at < now() limit $1)
  returning 1)
select count(*) from gone

-- name: assertion_expire
with gone as (
  delete from assertion_jti
  where (client_id, jti_sha256) in (select client_id, jti_sha256 from assertion_jti where expires_at < now() limit $1)
  returning 1)
select count(*) from gone
