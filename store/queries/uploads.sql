-- fragment: upload_scheduled
-- Whether a schedule, or the workflow that it runs, names the upload u: that keeps the file beyond its time.
(exists (select from workflow_schedule s join workflow w on w.id = s.workflow_id
         where s.upload_id = u.id and s.org_id = u.org_id and w.deleted_at is null)
 or exists (select from workflow w join workflow_schedule s on s.workflow_id = w.id
            where w.upload_id = u.id and w.org_id = u.org_id and w.deleted_at is null))

-- name: upload_insert
insert into upload (id, org_id, columns, expires_at)
values (@id, @org_id, '{}', now() + make_interval(hours => @kept_h::int))
returning expires_at

-- name: upload_unused
-- And those beyond their time that a schedule keeps.
select count(*) as files, coalesce(sum(u.bytes), 0)::bigint as bytes from upload u
where u.org_id = @org_id and case when u.expires_at > now() then u.used_at is null else :upload_scheduled end

-- name: upload_grow
update upload set bytes = bytes + @size where id = @upload_id returning org_id

-- name: upload_part_insert
insert into upload_part (upload_id, part, first_line, row_count, text)
values (@upload_id, @part, @first_line, @row_count, @text)

-- name: upload_org
select org_id from upload where id = @upload_id

-- name: upload_finish
update upload set finished_at = now(), columns = @columns, row_count = @row_count, part_count = @part_count
where id = @upload_id and finished_at is null
returning expires_at

-- name: upload_delete
delete from upload where id = @upload_id

-- name: upload_get
select u.columns, u.row_count, u.expires_at from upload u
where u.id = @upload_id and u.org_id = @org_id and u.finished_at is not null
  and (u.expires_at > now() or :upload_scheduled)

-- name: upload_use
-- The lock keeps it from being deleted while the transaction lasts; later the import or the open job does.
update upload u set used_at = coalesce(u.used_at, now())
where u.id = @upload_id and u.org_id = @org_id and u.finished_at is not null
  and (u.expires_at > now() or :upload_scheduled)
returning 1

-- name: upload_delete_expired
delete from upload
where id in (select u.id from upload u
             where u.expires_at < now() and u.org_id not in :arriving
               and not exists (select from monitor_import i where i.upload_id = u.id)
               and not exists (select from job j where j.upload_id = u.id and j.finished_at is null)
               and not :upload_scheduled
             order by u.expires_at
             limit @limit
             for update skip locked)

-- name: import_insert
insert into monitor_import (monitor_id, org_id, upload_id) values (@monitor_id, @org_id, @upload_id)

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
where i.monitor_id = @monitor_id
for update of i

-- name: import_part
select first_line, text from upload_part where upload_id = @upload_id and part = @part

-- name: import_advance
update monitor_import set next_part = next_part + 1, failures = 0 where monitor_id = @monitor_id

-- name: import_failed
-- Tried again after 1, 2, 4, ... seconds, a minute at most.
update monitor_import
set failures = failures + 1, not_before = now() + make_interval(secs => least(60, power(2, failures)))
where monitor_id = @monitor_id and next_part = @part_number
returning failures, upload_id

-- name: import_delete
delete from monitor_import where monitor_id = @monitor_id

-- name: import_definition
select key_columns, struct from monitor where id = @monitor_id

-- name: import_start_schedule
-- The first check is due now, unless a schedule by the clock or an anchor that was given says when.
update monitor_sched s set anchor_at = now(), next_run_at = now()
from monitor m
where s.monitor_id = @monitor_id and m.id = s.monitor_id and s.schedule is null and s.anchor_at = m.created_at
