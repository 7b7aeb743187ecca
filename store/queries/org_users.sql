-- name: org_user_insert
-- $3 name or null, which leaves the one that is there
insert into org_user (org_id, user_id, name) values ($1, $2, $3)
on conflict (org_id, user_id) do update set name = coalesce(excluded.name, org_user.name)

-- name: org_users_list
-- $2 the last user of the page before; $3 limit
select u.user_id, u.name, u.created_at,
  (select count(*) from access_token t
   where t.org_id = u.org_id and t.kind = :principal_user and t.user_id = u.user_id and t.expires_at > now()) as sessions
from org_user u
where u.org_id = $1 and ($2::text is null or u.user_id > $2)
order by u.user_id
limit $3

-- name: org_user_delete
delete from org_user where org_id = $1 and user_id = $2 returning user_id

-- name: sessions_of_user_end
delete from access_token where principal_id = $1 and kind = :principal_user

-- name: sessions_list
-- $2 the last session of the page before; $3 limit; $4 the principal of one user, or null for all
select id, user_id, team_id, created_at, expires_at
from access_token
where org_id = $1 and kind = :principal_user and expires_at > now()
  and ($2::uuid is null or id < $2) and ($4::uuid is null or principal_id = $4)
order by id desc
limit $3

-- name: session_end
delete from access_token where org_id = $1 and id = $2 and kind = :principal_user returning id
