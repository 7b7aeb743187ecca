-- name: client_keys_fetch_begin
-- No fetch begins within @retry_ms of the last one. One of all that ask gets the row, and with it the fence of its
-- fetch.
update oauth_client set jwks_tried_at = clock_timestamp()
where id = @client_id and jwks_uri is not null and deleted_at is null
  and (jwks_tried_at is null or jwks_tried_at <= clock_timestamp() - @retry_ms::bigint * interval '1 millisecond')
returning jwks_tried_at

-- name: client_keys_store
update oauth_client
set jwks = @keys::json, jwks_fetched_at = clock_timestamp(), jwks_ended_at = clock_timestamp(), jwks_error = null
where id = @client_id and jwks_tried_at = @fence

-- name: client_keys_none
-- @keys has no keys; @error says why none of those that came can be used. The keys that are there stay.
update oauth_client
set jwks = coalesce(jwks, @keys::json), jwks_fetched_at = coalesce(jwks_fetched_at, clock_timestamp()),
  jwks_ended_at = clock_timestamp(), jwks_error = @error
where id = @client_id and jwks_tried_at = @fence

-- name: client_keys_fail
-- The keys that are there stay.
update oauth_client
set jwks_ended_at = clock_timestamp(), jwks_error = @error
where id = @client_id and jwks_tried_at = @fence

-- name: client_keys_abandon
update oauth_client set jwks_tried_at = null where id = @client_id and jwks_tried_at = @fence
