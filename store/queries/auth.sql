-- fragment: requests_counted
-- Counts a request of the principal f.id of a row `found`, where $2 says so.
counted as (
  insert into rate_window (api_key_id, minute_at, requests)
  select id, date_trunc('minute', now()), 1 from found where $2::boolean
  on conflict (api_key_id, minute_at) do update set requests = rate_window.requests + 1
  returning requests
)

-- fragment: caller_columns
-- Of a row f of `found`; $3 the forwarded user or null.
f.kind, f.id, f.label, f.org_id, f.team_id, f.sha256, f.locked, f.features,
       case when $3::text is null then null
            when f.user_id is not null then f.user_id = $3
            else exists (select from org_user u where u.org_id = f.org_id and u.user_id = $3) end as user_known,
       coalesce((select requests from counted), 0) as requests,
       date_trunc('minute', now()) + interval '1 minute' as minute_ends_at

-- name: authenticate
-- $1 the SHA-256 of the key; $2 whether to count; $3 forwarded user; $4 the key's public prefix. The last use is kept to the hour, so
-- that a key which is always in use writes its row once in that time.
with found as (
  select :principal_api_key as kind, k.id, 'key ' || k.prefix as label, k.org_id, k.team_id, k.key_sha256 as sha256, o.locked, o.features,
         null::text as user_id
  from api_key k
  join organisation o on o.id = k.org_id
  where k.prefix = $4 and k.key_sha256 = $1 and k.revoked_at is null
), used as (
  update api_key k set last_used_at = now()
  from found
  where k.id = found.id and (k.last_used_at is null or k.last_used_at < now() - interval '1 hour')
), :requests_counted
select :caller_columns
from found f

-- fragment: live_token
-- Whose token has the SHA-256 $1, as long as it lives; what else has to hold is the statement's.
select t.kind, t.principal_id as id,
         case when t.kind = :principal_user then 'user ' || t.user_id else 'client ' || c.name end as label,
         t.org_id, t.team_id, t.token_sha256 as sha256, o.locked, o.features, t.user_id
  from access_token t
  join organisation o on o.id = t.org_id
  left join oauth_client c on t.kind = :principal_oauth_client and c.id = t.principal_id
  where t.token_sha256 = $1 and t.expires_at > now()

-- name: authenticate_token
-- $1 the SHA-256 of the token; $2 whether to count; $3 forwarded user; $4 whether tokens of clients are taken
with found as (
  :live_token
    and (t.kind = :principal_user
         or ($4::boolean and not c.disabled and c.deleted_at is null and c.token_version = t.principal_version))
), :requests_counted
select :caller_columns
from found f

-- name: authenticate_external
-- $1 the principal; $2 whether to count; $3 forwarded user; $4 its label; $5 what names the organisation, $6 that as an id or null;
-- $7 the team to which the caller is limited, or null
with found as (
  select :principal_external as kind, $1::uuid as id, $4::text as label, o.id as org_id, t.id as team_id, ''::bytea as sha256, o.locked, o.features,
         null::text as user_id
  from organisation o
  left join team t on t.org_id = o.id and t.id = $7 and t.deleted_at is null
  where (o.id = $6 or o.external_id = $5::text) and ($7::uuid is null or t.id is not null)
  order by o.id = $6 desc nulls last
  limit 1
), :requests_counted
select :caller_columns
from found f

-- name: rate_count
-- $1 principal; a request for a token, which counts for its client
insert into rate_window (api_key_id, minute_at, requests)
values ($1, date_trunc('minute', now()), 1)
on conflict (api_key_id, minute_at) do update set requests = rate_window.requests + 1
returning requests, minute_at + interval '1 minute'
