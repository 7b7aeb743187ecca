-- fragment: client_columns
c.id, c.org_id, c.team_id, c.name, c.disabled, c.token_version, c.access_token_ttl_s, c.last_used_at, c.created_at,
c.updated_at, c.created_by_kind, c.created_by_id, c.created_by_label, c.jwks_uri, c.jwks_ended_at, c.jwks_error

-- name: oauth_client_count_lock
-- $1 organisation: one creation at a time, so that the count is exact.
select pg_advisory_xact_lock(hashtextextended('oauth_client ' || $1::text, 0))

-- name: oauth_client_count
select count(*) from oauth_client where org_id = $1 and deleted_at is null

-- name: oauth_client_insert
insert into oauth_client
  (id, org_id, team_id, name, access_token_ttl_s, created_by_kind, created_by_id, created_by_label, jwks_uri)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9)

-- name: oauth_clients_read
-- $1 organisation; $2 client or null for all of them
select :client_columns
from oauth_client c
where c.org_id = $1 and c.deleted_at is null and ($2::uuid is null or c.id = $2)
order by c.id desc

-- name: oauth_client_keys_read
select client_id, kid, algorithm, created_at, revoked_at
from oauth_client_key
where client_id = any ($1::uuid[])
order by client_id, created_at, kid

-- name: oauth_client_update
-- $3 name or null; $4 whether it is disabled, or null; $5 whether to set the life of tokens; $6 it or null. A client that is disabled loses
-- its tokens for ever.
update oauth_client
set name = coalesce($3::text, name),
    disabled = coalesce($4::boolean, disabled),
    token_version = token_version + (case when $4::boolean then 1 else 0 end),
    access_token_ttl_s = case when $5::boolean then $6::int else access_token_ttl_s end,
    updated_at = now()
where org_id = $1 and id = $2 and deleted_at is null
returning id

-- name: oauth_client_delete
update oauth_client
set deleted_at = now(), token_version = token_version + 1, updated_at = now()
where org_id = $1 and id = $2 and deleted_at is null
returning id

-- name: oauth_client_void_tokens
update oauth_client
set token_version = token_version + 1, updated_at = now()
where org_id = $1 and id = $2 and deleted_at is null
returning id

-- name: oauth_client_lock
select jwks_uri from oauth_client where org_id = $1 and id = $2 and deleted_at is null for update

-- name: oauth_client_keys_live
select count(*) from oauth_client_key where client_id = $1 and revoked_at is null

-- name: oauth_client_key_insert
insert into oauth_client_key (client_id, kid, algorithm, public_key) values ($1, $2, $3, $4::bytea)
on conflict do nothing
returning kid

-- name: oauth_client_key_revoke
update oauth_client_key set revoked_at = now() where client_id = $1 and kid = $2 and revoked_at is null returning kid

-- name: oauth_client_of_assertion
-- What an assertion of the client is judged by: a row for each live key, or one without a key. Of a client that publishes its
-- keys they stand in jwks.
select c.org_id, c.token_version, c.access_token_ttl_s, o.locked, k.kid, k.algorithm, k.public_key,
       c.jwks_uri, c.jwks, c.jwks_fetched_at, c.jwks_tried_at, c.jwks_ended_at, clock_timestamp() as moment
from oauth_client c
join organisation o on o.id = c.org_id
left join oauth_client_key k on k.client_id = c.id and k.revoked_at is null
where c.id = $1 and not c.disabled and c.deleted_at is null

-- name: oauth_client_use
-- Locks the client, so that its tokens are counted exactly. No row: it is not what was judged any more.
update oauth_client set last_used_at = now()
where id = $1 and not disabled and deleted_at is null and token_version = $2
returning org_id, team_id
