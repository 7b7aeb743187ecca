-- name: cell_directory_put
insert into cell_directory (org_id, cell) values (@org_id, @cell)

-- name: cell_directory_fill
-- Organisations that were made before there was a directory, or by a process of the version before.
insert into cell_directory (org_id, cell)
select o.id, @cell from organisation o
where not exists (select from cell_directory d where d.org_id = o.id)
on conflict do nothing

-- name: cell_of_org
select cell from cell_directory where org_id = @org_id

-- name: place_hold
-- For share: the lock of a move waits for this, or this for the lock.
select lives_at, moving_until from organisation where id = @org_id for share

-- name: place_of
-- The place of the organisation that @id is, or to which the thing belongs that has this id.
select lives_at, moving_until from organisation
where id in (
  select @id
  union all select org_id from monitor where id = @id
  union all select org_id from job where id = @id
  union all select org_id from workflow_schedule where id = @id
  union all select org_id from delivery where id = @id
  union all (select org_id from delivery_attempt where delivery_id = @id limit 1))

-- name: credential_known
select from api_key where key_sha256 = @hash::bytea
union all select from access_token where token_sha256 = @hash::bytea
limit 1

-- name: cell_of_moved_key
select d.cell
from moved_key m
join cell_directory d on d.org_id = m.org_id
where m.key_sha256 = @hash::bytea

-- name: cell_counts
-- Organisations that live here by the directory, or have no row in it: those made before it was there. Monitors are
-- counted up to @limit.
select count(*) filter (where d.cell is null or d.cell = @cell) as organisations,
  (select coalesce(sum(row_count), 0)::bigint from chunk where available_at <= now()) as checks_due,
  (select coalesce(extract(epoch from now() - min(due_at)) * 1000, 0)::bigint
   from chunk where available_at <= now()) as lag_ms,
  (select count(*) from (select from monitor_sched where live limit @limit) s) as monitors,
  (select (extract(epoch from now() - created_at) * 1000)::bigint
   from delivery where state :are_pending order by id limit 1) as undelivered_ms
from organisation o
left join cell_directory d on d.org_id = o.id

-- name: cell_routes
-- The organisations of this cell behind @after, by id: under which names their callers show themselves, and by which
-- prefixes their keys begin that another cell gave out.
select o.id, o.external_id,
  array(select distinct k.prefix from api_key k
        where k.org_id = o.id and k.revoked_at is null and k.prefix !~ @own_keys
        order by 1)::text[] as prefixes
from organisation o
left join cell_directory d on d.org_id = o.id
where (d.cell is null or d.cell = @cell) and (@after::uuid is null or o.id > @after)
order by o.id
limit @limit
