-- name: org_insert
insert into organisation (id, name, features) values (@id, @name, @features::text[])

-- name: account_insert
insert into account (org_id) values (@org_id)

-- name: external_id_lock
select pg_advisory_xact_lock(hashtextextended('external_id', 0))

-- name: org_set_external_id
-- @external_id may be null. No row: another organisation has it.
update organisation o
set external_id = @external_id::text
where o.id = @org_id and not exists (select from organisation other where other.external_id = @external_id::text
                                            and other.id <> o.id)
returning o.id

-- name: org_lock
-- Two requests of an organisation make no more of what it may have together than each alone.
select from organisation where id = @org_id for no key update

-- name: org_exists
select from organisation where id = @org_id

-- name: orgs_read
-- What chunks and open jobs hold comes from the rows themselves: there is no second counter. What was charged is
-- what was booked less what is left (G4), because charges are many and bookings few.
select o.id, o.name, o.external_id, o.locked, o.lives_at, o.features, o.created_at, a.balance_mc,
  r.reserved_mc,
  (select coalesce(sum(e.amount_mc), 0)::bigint
   from credit_entry e where e.org_id = o.id and e.checks is null)
    - a.balance_mc - r.reserved_mc as charged_mc,
  greatest(:run_data_used, 0)::bigint as run_data_bytes
from organisation o
join account a on a.org_id = o.id
cross join lateral (
  select (select coalesce(sum(c.reserved_mc), 0)::bigint from chunk c where c.org_id = o.id)
    + (select coalesce(sum(j.reserved_mc), 0)::bigint from job j where j.org_id = o.id and j.finished_at is null)
    as reserved_mc) r
where o.id = any (@ids::uuid[])
order by o.id desc

-- name: orgs_page
-- @name_part is escaped for LIKE; @before is the last id of the page before.
select id
from organisation
where (@name_part::text is null or name ilike '%' || @name_part || '%' or external_id ilike @name_part
       or id = @id::uuid)
  and (@before::uuid is null or id < @before)
order by id desc
limit @limit

-- fragment: team_columns
-- The columns of a team t with its spending s of this month, if any.
t.org_id, t.id, t.name, t.spend_limit_mc, coalesce(s.spent_mc, 0) as spent_mc

-- name: teams_read
select :team_columns
from team t
left join team_spend s
  on s.team_id = t.id and s.month = date_trunc('month', now() at time zone 'UTC')::date
where t.org_id = any (@org_ids::uuid[]) and t.deleted_at is null
order by t.org_id, t.created_at, t.id

-- name: team_read
select :team_columns
from team t
left join team_spend s
  on s.team_id = t.id and s.month = date_trunc('month', now() at time zone 'UTC')::date
where t.org_id = @org_id and t.id = @team_id and t.deleted_at is null

-- name: team_names
select id, name from team where org_id = @org_id and deleted_at is null order by created_at, id

-- name: team_insert
insert into team (id, org_id, name, spend_limit_mc) values (@id, @org_id, @name, @spend_limit_mc)

-- name: team_update
-- @name may be null. The limit is set only where @sets_spend_limit says so.
update team
set name = coalesce(@name::text, name),
    spend_limit_mc = case when @sets_spend_limit::boolean then @spend_limit_mc::bigint else spend_limit_mc end
where org_id = @org_id and id = @team_id and deleted_at is null
returning id

-- name: team_lock
-- A statement of its own: the deletion sees what it has waited for.
select from team where org_id = @org_id and id = @team_id and deleted_at is null for no key update

-- name: team_delete
-- Behind team_lock. No row where something of the team lives. What has ended goes on naming it.
update team t
set deleted_at = now()
where t.org_id = @org_id and t.id = @team_id and t.deleted_at is null
  and not exists (select from api_key k where k.org_id = @org_id and k.team_id = @team_id and k.revoked_at is null)
  and not exists (select from oauth_client c where c.org_id = @org_id and c.team_id = @team_id and c.deleted_at is null)
  and not exists (select from access_token a where a.org_id = @org_id and a.team_id = @team_id and a.expires_at > now())
  and not exists (select from org_user u where u.org_id = @org_id and u.team_id = @team_id)
  and not exists (select from invitation i where i.org_id = @org_id and i.team_id = @team_id and i.expires_at > now())
  and not exists (select from monitor m where m.org_id = @org_id and m.team_id = @team_id and m.archived_at is null)
  and not exists (select from workflow_schedule s where s.org_id = @org_id and s.team_id = @team_id and s.is_active)
  and not exists (select from job j where j.org_id = @org_id and j.team_id = @team_id and j.finished_at is null)
returning t.id

-- name: account_balance
select balance_mc from account where org_id = @org_id

-- name: account_lock
select balance_mc from account where org_id = @org_id for update

-- name: account_add
update account set balance_mc = balance_mc + @amount_mc where org_id = @org_id returning balance_mc

-- name: credit_entry_insert
insert into credit_entry (org_id, amount_mc, reason) values (@org_id, @amount_mc, @reason)

-- name: api_key_insert
-- @scopes: empty for all.
insert into api_key (id, org_id, team_id, name, prefix, key_sha256, scopes, expires_at)
values (@id, @org_id, @team_id, @name, @prefix, @key_sha256::bytea, @scopes::text[], @expires_at)
returning created_at

-- name: api_keys_live
-- How many an organisation has that let somebody in.
select count(*) from api_key
where org_id = @org_id and revoked_at is null and (expires_at is null or expires_at > now())

-- name: api_keys_list
-- @before is the last id of the page before.
select id, name, prefix, team_id, created_at, last_used_at, scopes, expires_at
from api_key
where org_id = @org_id and revoked_at is null and (@before::uuid is null or id < @before)
order by id desc
limit @limit

-- name: api_key_exists
select 1 from api_key where org_id = @org_id and id = @key_id and revoked_at is null

-- name: api_key_revoke
update api_key set revoked_at = now()
where org_id = @org_id and id = @key_id and revoked_at is null
returning name, prefix

-- name: team_hold
-- What is made for a team that is being deleted waits for the deletion, or this for what is made.
select from team where org_id = @org_id and id = @team_id and deleted_at is null for share
