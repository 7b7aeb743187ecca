-- name: org_insert
insert into organisation (id, name, features) values ($1, $2, $3::text[])

-- name: account_insert
insert into account (org_id) values ($1)

-- name: external_id_lock
select pg_advisory_xact_lock(hashtextextended('external_id', 0))

-- name: org_set_external_id
-- $2 the name or null. No row: another organisation has it.
update organisation o
set external_id = $2::text
where o.id = $1 and not exists (select from organisation other where other.external_id = $2::text and other.id <> o.id)
returning o.id

-- name: org_exists
select from organisation where id = @org_id

-- name: orgs_read
-- $1 ids. What chunks and open jobs hold comes from the rows themselves: there is no second counter. What was charged is
-- what was booked less what is left (G4), because charges are many and bookings few.
select o.id, o.name, o.external_id, o.locked, o.features, o.created_at, a.balance_mc,
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
where o.id = any ($1::uuid[])
order by o.id desc

-- name: orgs_page
-- $1 part of the name, escaped for LIKE; $2 id; $3 the last id of the page before; $4 limit
select id
from organisation
where ($1::text is null or name ilike '%' || $1 || '%' or external_id ilike $1 or id = $2::uuid)
  and ($3::uuid is null or id < $3)
order by id desc
limit $4

-- fragment: team_columns
-- Of a team t with its spending s of this month, if any.
t.org_id, t.id, t.name, t.spend_limit_mc, coalesce(s.spent_mc, 0) as spent_mc

-- name: teams_read
-- $1 organisations
select :team_columns
from team t
left join team_spend s
  on s.team_id = t.id and s.month = date_trunc('month', now() at time zone 'UTC')::date
where t.org_id = any ($1::uuid[]) and t.deleted_at is null
order by t.org_id, t.created_at, t.id

-- name: team_read
select :team_columns
from team t
left join team_spend s
  on s.team_id = t.id and s.month = date_trunc('month', now() at time zone 'UTC')::date
where t.org_id = $1 and t.id = $2 and t.deleted_at is null

-- name: team_insert
insert into team (id, org_id, name, spend_limit_mc) values ($1, $2, $3, $4)

-- name: team_update
-- $3 name or null; $4 whether to set the limit; $5 the limit
update team
set name = coalesce($3::text, name),
    spend_limit_mc = case when $4::boolean then $5::bigint else spend_limit_mc end
where org_id = $1 and id = $2 and deleted_at is null
returning id

-- name: team_delete
-- No row where something of the team lives. What has ended goes on naming it.
update team t
set deleted_at = now()
where t.org_id = $1 and t.id = $2 and t.deleted_at is null
  and not exists (select from api_key k where k.org_id = $1 and k.team_id = $2 and k.revoked_at is null)
  and not exists (select from oauth_client c where c.org_id = $1 and c.team_id = $2 and c.deleted_at is null)
  and not exists (select from access_token a where a.org_id = $1 and a.team_id = $2 and a.expires_at > now())
  and not exists (select from monitor m where m.org_id = $1 and m.team_id = $2 and m.archived_at is null)
  and not exists (select from job j where j.org_id = $1 and j.team_id = $2 and j.finished_at is null)
returning t.id

-- name: account_balance
select balance_mc from account where org_id = $1

-- name: account_lock
select balance_mc from account where org_id = $1 for update

-- name: account_add
update account set balance_mc = balance_mc + $2 where org_id = $1 returning balance_mc

-- name: credit_entry_insert
insert into credit_entry (org_id, amount_mc, reason) values ($1, $2, $3)

-- name: api_key_insert
insert into api_key (id, org_id, team_id, name, prefix, key_sha256)
values ($1, $2, $3, $4, $5, $6::bytea)

-- name: api_keys_list
-- $2 the last id of the page before; $3 limit
select id, name, prefix, team_id, created_at, last_used_at
from api_key
where org_id = $1 and revoked_at is null and ($2::uuid is null or id < $2)
order by id desc
limit $3

-- name: api_key_revoke
update api_key set revoked_at = now()
where org_id = $1 and id = $2 and revoked_at is null
returning name, prefix

-- name: team_exists
select 1 from team where org_id = $1 and id = $2 and deleted_at is null
