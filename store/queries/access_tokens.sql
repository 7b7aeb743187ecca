-- name: assertion_take
-- The jti is known until @expires_at. No row: it was taken before.
insert into assertion_jti (client_id, jti_sha256, expires_at) values (@client_id, @jti_sha256::bytea, @expires_at)
on conflict do nothing
returning client_id

-- name: access_tokens_live
select count(*) from access_token where principal_id = @principal_id and expires_at > now()

-- name: access_tokens_counted
-- Counts live ones by kind; @limit are looked at, so that the cost does not grow with them.
select count(*) filter (where kind = :principal_oauth_client) as client_tokens,
       count(*) filter (where kind = :principal_user) as sessions
from (select kind from access_token where expires_at > now() limit @limit) s

-- name: access_token_insert
insert into access_token
  (token_sha256, id, kind, org_id, team_id, principal_id, principal_version, user_id, expires_at)
values (@token_sha256::bytea, @id, @kind, @org_id, @team_id, @principal_id, @principal_version, @user_id,
        now() + @ttl_s * interval '1 second')
returning expires_at

-- name: access_token_revoke
delete from access_token where token_sha256 = @token_sha256::bytea and kind = :principal_oauth_client
  and principal_id = @client_id

-- name: access_token_introspect
-- @org_id is the organisation of the client that asks.
select t.principal_id, t.created_at, t.expires_at
from access_token t
join oauth_client c on c.id = t.principal_id
where t.token_sha256 = @token_sha256::bytea and t.kind = :principal_oauth_client and t.org_id = @org_id
  and t.expires_at > now()
  and not c.disabled and c.deleted_at is null and c.token_version = t.principal_version

-- name: access_token_expire
with gone as (
  delete from access_token
  where token_sha256 in (select token_sha256 from access_token where expires_at < now() limit @limit)
  returning 1)
select count(*) from gone

-- name: assertion_expire
with gone as (
  delete from assertion_jti
  where (client_id, jti_sha256) in (select client_id, jti_sha256 from assertion_jti
                                           where expires_at < now() limit @limit)
  returning 1)
select count(*) from gone

-- name: console_session_insert
insert into console_session (token_sha256, id, issuer, subject, email, role_values, expires_at)
values (@token_sha256::bytea, @id, @issuer, @subject, @email, @role_values::text[], now() + @ttl_s * interval '1 second')

-- name: console_session_find
select id, issuer, subject, email, role_values, created_at, expires_at
from console_session
where token_sha256 = @token_sha256::bytea and expires_at > now()

-- name: console_sessions_list
select id, issuer, subject, email, role_values, created_at, expires_at
from console_session
where expires_at > now()
order by id desc
limit @limit

-- name: console_session_end
delete from console_session where id = @id and expires_at > now() returning id

-- name: console_session_expire
with gone as (
  delete from console_session
  where token_sha256 in (select token_sha256 from console_session where expires_at < now() limit @limit)
  returning 1)
select count(*) from gone
