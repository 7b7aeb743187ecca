-- fragment: client_columns
c.id, c.org_id, c.team_id, c.name, c.disabled, c.token_version, c.access_token_ttl_s, c.last_used_at, c.created_at,
c.updated_at, c.created_by_kind, c.created_by_id, c.created_by_label, c.jwks_uri, c.jwks_ended_at, c.jwks_error

-- name: oauth_client_count_lock
-- One creation at a time in an organisation, so that the count is exact.
select pg_advisory_xact_lock(hashtextextended('oauth_client ' || @org_id::text, 0))

-- name: oauth_client_count
select count(*) from oauth_client where org_id = @org_id and deleted_at is null

-- name: oauth_client_insert
insert into oauth_client
  (id, org_id, team_id, name, access_token_ttl_s, created_by_kind, created_by_id, created_by_label, jwks_uri)
values (@id, @org_id, @team_id, @name, @access_token_ttl_s, @created_by_kind, @created_by_id, @created_by_label,
        @jwks_uri)

-- name: oauth_clients_read
-- @client_id may be null, for all of them.
select :client_columns
from oauth_client c
where c.org_id = @org_id and c.deleted_at is null and (@client_id::uuid is null or c.id = @client_id)
order by c.id desc

-- name: oauth_client_keys_read
select client_id, kid, algorithm, created_at, revoked_at
from oauth_client_key
where client_id = any (@client_ids::uuid[])
order by client_id, created_at, kid

-- name: oauth_client_update
-- @name, @disabled and @token_ttl_s may be null; the life of tokens is set only where @sets_token_ttl says so. A client
-- that is disabled loses its tokens for ever.
update oauth_client
set name = coalesce(@name::text, name),
    disabled = coalesce(@disabled::boolean, disabled),
    token_version = token_version + (case when @disabled::boolean then 1 else 0 end),
    access_token_ttl_s = case when @sets_token_ttl::boolean then @token_ttl_s::int else access_token_ttl_s end,
    updated_at = now()
where org_id = @org_id and id = @client_id and deleted_at is null
returning id

-- name: oauth_client_delete
update oauth_client
set deleted_at = now(), token_version = token_version + 1, updated_at = now()
where org_id = @org_id and id = @client_id and deleted_at is null
returning id

-- name: oauth_client_void_tokens
update oauth_client
set token_version = token_version + 1, updated_at = now()
where org_id = @org_id and id = @client_id and deleted_at is null
returning id

-- name: oauth_client_lock
select jwks_uri from oauth_client where org_id = @org_id and id = @client_id and deleted_at is null for update

-- name: oauth_client_keys_live
select count(*) from oauth_client_key where client_id = @client_id and revoked_at is null

-- name: oauth_client_key_insert
insert into oauth_client_key (client_id, kid, algorithm, public_key)
values (@client_id, @kid, @algorithm, @public_key::bytea)
on conflict do nothing
returning kid

-- name: oauth_client_key_revoke
update oauth_client_key set revoked_at = now()
where client_id = @client_id and kid = @kid and revoked_at is null
returning kid

-- name: oauth_client_of_assertion
-- What an assertion of the client is validated by: a row for each live key, or one without a key. Of a client that
-- publishes its keys they stand in jwks.
select c.org_id, c.token_version, c.access_token_ttl_s, o.locked, :answered_until as moving_until, k.kid, k.algorithm, k.public_key,
       c.jwks_uri, c.jwks, c.jwks_fetched_at, c.jwks_tried_at, c.jwks_ended_at, clock_timestamp() as moment
from oauth_client c
join organisation o on o.id = c.org_id
left join oauth_client_key k on k.client_id = c.id and k.revoked_at is null
where c.id = @client_id and not c.disabled and c.deleted_at is null

-- name: oauth_client_use
-- Locks the client, so that its tokens are counted exactly. No row: it is not what was validated any more.
update oauth_client set last_used_at = now()
where id = @client_id and not disabled and deleted_at is null and token_version = @token_version
returning org_id, team_id
