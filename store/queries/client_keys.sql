-- name: client_keys_fetch_begin
-- $1 client; $2 milliseconds since the last fetch began. One of all that ask gets the row, and with it the fence of its fetch.
update oauth_client set jwks_tried_at = clock_timestamp()
where id = $1 and jwks_uri is not null and deleted_at is null
  and (jwks_tried_at is null or jwks_tried_at <= clock_timestamp() - $2::bigint * interval '1 millisecond')
returning jwks_tried_at

-- name: client_keys_store
-- $2 fence; $3 keys
update oauth_client
set jwks = $3::json, jwks_fetched_at = clock_timestamp(), jwks_ended_at = clock_timestamp(), jwks_error = null
where id = $1 and jwks_tried_at = $2

-- name: client_keys_none
-- $2 fence; $3 a set without keys; $4 why none of those that came can be used. The keys that are there stay.
update oauth_client
set jwks = coalesce(jwks, $3::json), jwks_fetched_at = coalesce(jwks_fetched_at, clock_timestamp()),
  jwks_ended_at = clock_timestamp(), jwks_error = $4
where id = $1 and jwks_tried_at = $2

-- name: client_keys_fail
-- $2 fence; $3 what went wrong. The keys that are there stay.
update oauth_client
set jwks_ended_at = clock_timestamp(), jwks_error = $3
where id = $1 and jwks_tried_at = $2

-- name: client_keys_abandon
-- $2 fence
update oauth_client set jwks_tried_at = null where id = $1 and jwks_tried_at = $2
