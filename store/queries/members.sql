-- name: invitation_insert
-- At most @invitations_max wait in an organisation; no row where there are as many.
insert into invitation (id, org_id, email, role, team_id, token_sha256, invited_by, expires_at)
select @id, @org_id, @email, @role, @team_id, @token_sha256::bytea, @invited_by, now() + @ttl_s * interval '1 second'
where (select count(*) from invitation where org_id = @org_id and expires_at > now()) < @invitations_max
returning expires_at

-- name: invitation_org
select org_id, email from invitation where token_sha256 = @token_sha256::bytea and expires_at > now()

-- name: invitation_take
-- An invitation lets in once.
delete from invitation where token_sha256 = @token_sha256::bytea and expires_at > now()
returning role, team_id

-- name: invitations_end
-- What an address waits with ends where it is invited again, comes in, or its membership changes or ends.
delete from invitation where org_id = @org_id and email = @email

-- name: invitation_find
-- What the address signs in with counts where it lets him in anywhere.
select i.org_id, i.email, i.role, o.name as organisation, o.lives_at, o.moving_until,
  case when h.lets_in then p.password end as password,
  h.lets_in and exists (select from passkey k where k.email = i.email) as has_passkey,
  exists (select from org_user u where u.org_id = i.org_id and u.user_id = i.email and u.by_provider) as by_provider
from invitation i
join organisation o on o.id = i.org_id
left join member_password p on p.email = i.email
cross join lateral (
  select exists (select from org_user u where u.user_id = i.email and u.role is not null and not u.by_provider) as lets_in) h
where i.token_sha256 = @token_sha256::bytea and i.expires_at > now()

-- name: invitations_list
select id, email, role, team_id, invited_by, created_at, expires_at
from invitation
where org_id = @org_id and expires_at > now()
order by id desc

-- name: invitation_delete
delete from invitation where org_id = @org_id and id = @id returning id

-- name: invitation_expire
with gone as (
  delete from invitation where id in (select id from invitation where expires_at < now() limit @limit) returning 1)
select count(*) from gone

-- name: password_set
-- A password that is there stays.
insert into member_password (email, password) values (@email, @password) on conflict (email) do nothing

-- name: password_change
insert into member_password (email, password) values (@email, @password)
on conflict (email) do update set password = excluded.password, changed_at = now()

-- name: password_delete
delete from member_password where email = @email

-- name: password_get
select password from member_password where email = @email

-- name: membership_all
-- Newest organisations last; those that are locked let in, as everywhere, to a refusal.
select u.org_id, o.lives_at, o.name as organisation, u.role, u.by_provider, u.claimed
from org_user u
join organisation o on o.id = u.org_id
where u.user_id = @email and u.role is not null
order by u.created_at, u.org_id

-- name: membership_put
-- A member of old has the role and the team of the invitation. What the provider has given, it alone opens from then on.
insert into org_user (org_id, user_id, role, team_id, by_provider)
values (@org_id, @email, @role, @team_id, @by_provider)
on conflict (org_id, user_id) do update
set role = excluded.role, team_id = excluded.team_id, by_provider = org_user.by_provider or excluded.by_provider,
  claimed = false

-- name: membership_named
-- The organisation that the identity provider has named, by its external id or as @claimed_id by its id.
select o.id
from organisation o
left join team t on t.org_id = o.id and t.id = @team_id and t.deleted_at is null
where (o.id = @claimed_id or o.external_id = @organisation::text) and (@team_id::uuid is null or t.id is not null)
order by o.id = @claimed_id desc nulls last
limit 1

-- name: membership_claim
-- A member stays what he is, but that a claimed one becomes one of the team of the claim. An owner is of none.
insert into org_user (org_id, user_id, role, team_id, by_provider, claimed)
values (@org_id, @email, :role_member, @team_id, true, true)
on conflict (org_id, user_id) do update
set role = coalesce(org_user.role, :role_member), team_id = excluded.team_id, by_provider = true, claimed = true
where org_user.role is null
   or (org_user.claimed and org_user.role <> :role_owner and excluded.team_id is not null
       and org_user.team_id is distinct from excluded.team_id)
returning role

-- name: members_list
select u.user_id as email, u.role, u.team_id, u.by_provider, u.created_at,
  (select count(*) from access_token t
   where t.org_id = u.org_id and t.kind = :principal_user and t.user_id = u.user_id
     and t.expires_at > now()) as sessions
from org_user u
where u.org_id = @org_id and u.role is not null
order by u.user_id

-- name: members_lock
-- All owners, so that two who remove each other wait for one another.
select user_id, role, team_id, by_provider from org_user
where org_id = @org_id and role is not null order by user_id for update

-- name: membership_hold
-- A member who is being removed gets no session: the removal waits for this, or this for the removal.
select user_id from org_user where org_id = @org_id and user_id = @email and role is not null for share

-- name: membership_set_role
update org_user set role = @role, team_id = @team_id
where org_id = @org_id and user_id = @email and role is not null
returning user_id

-- name: membership_session
-- The user of a session, for its own dashboard.
select t.id, t.user_id, t.created_at, t.expires_at, u.role, coalesce(u.by_provider, false) as by_provider, o.name as organisation, m.id as team_id, m.name as team,
  now() as moment
from access_token t
join organisation o on o.id = t.org_id
left join org_user u on u.org_id = t.org_id and u.user_id = t.user_id
left join team m on m.id = coalesce(t.team_id, u.team_id)
where t.token_sha256 = @token_sha256::bytea and t.kind = :principal_user and t.expires_at > now()
