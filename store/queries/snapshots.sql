-- What pages said and looked like (0014_snapshots.sql).

-- name: snapshot_list
-- A row's, newest first, before tick @before_tick_id.
select id, tick_id, previous_id, url, is_rendered, text_bytes, picture_hash is not null as has_picture,
       created_at
from snapshot
where row_id = @row_id and tick_id < @before_tick_id
order by tick_id desc
limit @limit

-- name: snapshot_text
select c.body
from snapshot s
join monitor m on m.id = s.monitor_id and m.deleted_at is null
join snapshot_content c on c.org_id = s.org_id and c.hash = s.text_hash
where s.id = @id and (@org_id::uuid is null or s.org_id = @org_id) and (@team_id::uuid is null or m.team_id = @team_id)

-- name: snapshot_picture
-- A check has one or the other: a failed one keeps no snapshot.
select c.body
from snapshot s
join monitor m on m.id = s.monitor_id and m.deleted_at is null
join snapshot_content c on c.org_id = s.org_id and c.hash = s.picture_hash
where s.id = @id and (@org_id::uuid is null or s.org_id = @org_id) and (@team_id::uuid is null or m.team_id = @team_id)
union all
select f.picture
from failed_page f
join monitor m on m.id = f.monitor_id and m.deleted_at is null
where f.id = @id and (@org_id::uuid is null or f.org_id = @org_id) and (@team_id::uuid is null or m.team_id = @team_id)

-- name: failed_page_forget
delete from failed_page where row_id = @row_id

-- name: failed_page_expire
with gone as (
  delete from failed_page
  where row_id = any (array(select row_id from failed_page
                            where failed_at < now() - @kept_h * interval '1 hour' and org_id not in :arriving
                            limit @limit))
    and failed_at < now() - @kept_h * interval '1 hour'
  returning 1)
select count(*) from gone

-- fragment: contents_of_gone
-- What the deleted snapshots `gone` had, locked, so that nobody takes it again meanwhile.
contents as (
  select org_id, text_hash as hash from gone
  union
  select org_id, picture_hash from gone where picture_hash is not null
)
select c.org_id, c.hash
from snapshot_content c
where (c.org_id, c.hash) in (select org_id, hash from contents)
order by c.org_id, c.hash
for update

-- name: snapshots_of_row_forget
with gone as (
  delete from snapshot where row_id = @row_id returning org_id, text_hash, picture_hash
), :contents_of_gone

-- name: snapshots_forget
-- The same of these, with the pictures of the last failures of their rows.
with gone as (
  delete from snapshot where id = any (@ids::uuid[]) returning org_id, row_id, text_hash, picture_hash
), failed as (
  delete from failed_page where row_id in (select row_id from gone)
), :contents_of_gone

-- name: snapshot_contents_forget
-- Those that no snapshot has any more.
delete from snapshot_content c
using (select unnest(@org_id::uuid[]) as org_id, unnest(@hash::bytea[]) as hash) as u
where c.org_id = u.org_id and c.hash = u.hash
  and not exists (select from snapshot s where s.org_id = c.org_id and s.text_hash = c.hash)
  and not exists (select from snapshot s where s.org_id = c.org_id and s.picture_hash = c.hash)

-- name: snapshot_default_expire
with gone as (
  delete from only snapshot_default
  where ctid = any (array(
    select ctid from only snapshot_default
    where tick_id < extract(epoch from now() - @kept_h * interval '1 hour') * 1000000 limit @limit))
  returning 1)
select count(*) from gone

-- name: snapshot_content_expire
-- A partition of snapshots is kept up to a week longer, and used_at is right to within a day.
with gone as (
  delete from snapshot_content
  where (org_id, hash) in (select org_id, hash from snapshot_content
                           where used_at < now() - @kept_h * interval '1 hour' - interval '9 days'
                             and org_id not in :arriving limit @limit)
    and used_at < now() - @kept_h * interval '1 hour' - interval '9 days'
  returning 1)
select count(*) from gone
