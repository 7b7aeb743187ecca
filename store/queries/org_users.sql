-- name: org_user_insert
-- A @name that is null leaves the one that is there.
insert into org_user (org_id, user_id, name) values (@org_id, @user_id, @name)
on conflict (org_id, user_id) do update set name = coalesce(excluded.name, org_user.name)

-- name: org_users_list
-- @after is the last user of the page before.
select u.user_id, u.name, u.created_at,
  (select count(*) from access_token t
   where t.org_id = u.org_id and t.kind = :principal_user and t.user_id = u.user_id
     and t.expires_at > now()) as sessions
from org_user u
where u.org_id = @org_id and (@after::text is null or u.user_id > @after)
order by u.user_id
limit @limit

-- name: org_user_delete
delete from org_user where org_id = @org_id and user_id = @user_id returning user_id

-- name: sessions_of_user_end
delete from access_token where principal_id = @principal_id and kind = :principal_user

-- name: sessions_list
-- @before is the last session of the page before; @principal is one user's, or null for all.
select t.id, t.user_id, coalesce(t.team_id, u.team_id) as team_id, t.created_at, t.expires_at
from access_token t
left join org_user u on u.org_id = t.org_id and u.user_id = t.user_id
where t.org_id = @org_id and t.kind = :principal_user and t.expires_at > now()
  and (@before::uuid is null or t.id < @before) and (@principal::uuid is null or t.principal_id = @principal)
order by t.id desc
limit @limit

-- name: session_end
delete from access_token where org_id = @org_id and id = @session_id and kind = :principal_user returning id
