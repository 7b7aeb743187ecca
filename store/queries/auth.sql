-- name: authenticate
with found as (
  select k.id, k.org_id, k.team_id, k.key_sha256, o.locked, o.features
  from api_key k
  join organisation o on o.id = k.org_id
  where k.prefix = $1 and k.key_sha256 = $2 and k.revoked_at is null
), counted as (
  insert into rate_window (api_key_id, minute_at, requests)
  select id, date_trunc('minute', now()), 1 from found where $3::boolean
  on conflict (api_key_id, minute_at) do update set requests = rate_window.requests + 1
  returning requests
)
select f.id, f.org_id, f.team_id, f.key_sha256, f.locked, f.features,
       coalesce((select requests from counted), 0) as requests,
       date_trunc('minute', now()) + interval '1 minute' as minute_ends_at
from found f
