-- name: upload_insert
insert into upload (id, org_id, columns, expires_at)
values ($1, $2, '{}', now() + make_interval(hours => $3::int))
returning expires_at

-- name: upload_unused
select count(*) as files, coalesce(sum(bytes), 0)::bigint as bytes from upload
where org_id = $1 and used_at is null and expires_at > now()

-- name: upload_grow
update upload set bytes = bytes + $2 where id = $1 returning org_id

-- name: upload_part_insert
insert into upload_part (upload_id, part, first_line, row_count, text) values ($1, $2, $3, $4, $5)

-- name: upload_finish
update upload set finished_at = now(), columns = $2, row_count = $3, part_count = $4
where id = $1 and finished_at is null
returning expires_at

-- name: upload_delete
delete from upload where id = $1

-- name: upload_get
select columns, row_count, expires_at from upload
where id = $1 and org_id = $2 and finished_at is not null and expires_at > now()

-- name: upload_use
-- The lock keeps it from being deleted while the transaction lasts; later the import or the open job does.
update upload set used_at = coalesce(used_at, now())
where id = @upload_id and org_id = @org_id and finished_at is not null and expires_at > now()
returning 1

-- name: upload_delete_expired
delete from upload
where id in (select u.id from upload u
             where u.expires_at < now()
               and not exists (select from monitor_import i where i.upload_id = u.id)
               and not exists (select from job j where j.upload_id = u.id and j.finished_at is null)
             order by u.expires_at
             limit $1
             for update skip locked)

-- name: import_insert
insert into monitor_import (monitor_id, org_id, upload_id) values ($1, $2, $3)

-- name: import_take
update monitor_import
set taken_at = clock_timestamp()
where monitor_id = (select monitor_id from monitor_import where not_before <= now()
                    order by taken_at limit 1 for update skip locked)
returning monitor_id

-- name: import_lock
select i.upload_id, i.next_part, u.columns, u.part_count
from monitor_import i
join upload u on u.id = i.upload_id
where i.monitor_id = $1
for update of i

-- name: import_part
select first_line, text from upload_part where upload_id = $1 and part = $2

-- name: import_advance
update monitor_import set next_part = next_part + 1, failures = 0 where monitor_id = $1

-- name: import_failed
-- Tried again after 1, 2, 4, ... seconds, a minute at most.
update monitor_import
set failures = failures + 1, not_before = now() + make_interval(secs => least(60, power(2, failures)))
where monitor_id = $1 and next_part = $2
returning failures, upload_id

-- name: import_delete
delete from monitor_import where monitor_id = $1

-- name: import_definition
select key_columns, struct from monitor where id = $1

-- name: import_start_schedule
update monitor_sched set anchor_at = now(), next_run_at = now() where monitor_id = @monitor_id
