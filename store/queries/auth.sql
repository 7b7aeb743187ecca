-- fragment: requests_counted
-- Counts a request of the principal f.id of a row `found`, where @count says so.
counted as (
  insert into rate_window (api_key_id, minute_at, requests)
  select id, date_trunc('minute', now()), 1 from found where @count::boolean
  on conflict (api_key_id, minute_at) do update set requests = rate_window.requests + 1
  returning requests
)

-- fragment: answered_until
-- While an organisation o is locked for its move: until when that should take. Null where its operator has locked it too.
case when o.moving_until is not null
          and not exists (select from org_move m where m.org_id = o.id and m.was_locked) then o.moving_until end

-- fragment: caller_columns
-- Columns of a row f of `found`; @forwarded_user may be null.
f.kind, f.id, f.label, f.org_id, f.team_id, f.sha256, f.locked, f.moving_until, f.features, f.scopes,
       case when @forwarded_user::text is null then null
            when f.user_id is not null then f.user_id = @forwarded_user
            else exists (select from org_user u where u.org_id = f.org_id
                                and u.user_id = @forwarded_user) end as user_known,
       coalesce((select requests from counted), 0) as requests,
       date_trunc('minute', now()) + interval '1 minute' as minute_ends_at

-- name: authenticate
-- @hash is the SHA-256 of the key, @prefix its public prefix. The last use is kept to the hour, so
-- that a key which is always in use writes its row once in that time.
with found as (
  select :principal_api_key as kind, k.id, 'key ' || k.prefix as label, k.org_id, k.team_id, k.key_sha256 as sha256,
         o.locked, :answered_until as moving_until, o.features, null::text as user_id, k.scopes
  from api_key k
  join organisation o on o.id = k.org_id
  where k.prefix = @prefix and k.key_sha256 = @hash and k.revoked_at is null
    and (k.expires_at is null or k.expires_at > now())
), used as (
  update api_key k set last_used_at = now()
  from found
  where k.id = found.id and (k.last_used_at is null or k.last_used_at < now() - interval '1 hour')
), :requests_counted
select :caller_columns
from found f

-- fragment: live_token
-- The owner of the token with the SHA-256 @hash, as long as it lives; the statement adds what else has to hold. What a
-- session may do, its user's role says (domain/auth/member_role.h); without a role it may do everything. It is of the team
-- that the operator has made it for and of the user's own: a session of two different ones is none.
select t.kind, t.principal_id as id,
         case when t.kind = :principal_user then 'user ' || t.user_id else 'client ' || c.name end as label,
         t.org_id, coalesce(t.team_id, u.team_id) as team_id,
         t.token_sha256 as sha256, o.locked, :answered_until as moving_until, o.features, t.user_id,
         case u.role when :role_viewer then '{read}'::text[]
                     when :role_member then '{read,monitors,lookups,workflows,search}'::text[]
                     else '{}'::text[] end as scopes
  from access_token t
  join organisation o on o.id = t.org_id
  left join oauth_client c on t.kind = :principal_oauth_client and c.id = t.principal_id
  left join org_user u on t.kind = :principal_user and u.org_id = t.org_id and u.user_id = t.user_id
  where t.token_sha256 = @hash and t.expires_at > now()
    and (t.team_id is null or u.team_id is null or t.team_id = u.team_id)

-- name: authenticate_token
-- @client_tokens says whether tokens of clients are taken.
with found as (
  :live_token
    and (t.kind = :principal_user
         or (@client_tokens::boolean and not c.disabled and c.deleted_at is null
             and c.token_version = t.principal_version))
), :requests_counted
select :caller_columns
from found f

-- name: authenticate_external
-- @organisation names the organisation by its external id, or as @org_id by its id, which may be null. @team_id, if
-- given, limits the caller to a team.
with found as (
  select :principal_external as kind, @principal::uuid as id, @label::text as label, o.id as org_id, t.id as team_id,
         ''::bytea as sha256, o.locked, :answered_until as moving_until, o.features, null::text as user_id, '{}'::text[] as scopes
  from organisation o
  left join team t on t.org_id = o.id and t.id = @team_id and t.deleted_at is null
  where (o.id = @org_id or o.external_id = @organisation::text) and (@team_id::uuid is null or t.id is not null)
  order by o.id = @org_id desc nulls last
  limit 1
), :requests_counted
select :caller_columns
from found f

-- name: rate_count
-- A request for a token counts for its client, which stands in api_key_id.
insert into rate_window (api_key_id, minute_at, requests)
values (@api_key_id, date_trunc('minute', now()), 1)
on conflict (api_key_id, minute_at) do update set requests = rate_window.requests + 1
returning requests, minute_at + interval '1 minute' as minute_ends_at
