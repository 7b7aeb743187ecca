-- name: run_upload_unit
-- The text of the part @unit of the file @upload_id, and how many parts of @part_rows rows those before it make.
select p.first_line, p.text,
       (select coalesce(sum((b.row_count + @part_rows::int - 1) / @part_rows::int), 0)::int
        from upload_part b where b.upload_id = @upload_id and b.part < @unit) as first_part
from upload_part p
where p.upload_id = @upload_id and p.part = @unit

-- name: run_upload
-- The columns and rows of a finished file, its parts, and how many parts of @part_rows rows they make.
select u.columns, u.row_count, u.part_count,
       (select coalesce(sum((p.row_count + @part_rows::int - 1) / @part_rows::int),
         0)::int from upload_part p where p.upload_id = u.id) as parts
from upload u
where u.id = @upload_id and u.org_id = @org_id and u.finished_at is not null
  and (u.expires_at > now() or :upload_scheduled)

-- name: run_keys_seen
select k.key_hash from run_key k
where k.job_id = @job_id and k.block = @block and k.key_hash = any(@key_hashes::bytea[])

-- name: run_key_insert
insert into run_key (job_id, block, key_hash)
select u.job_id, u.block, u.key_hash from unnest(@job_id::uuid[], @block::smallint[], @key_hash::bytea[]) as u(job_id,
  block, key_hash)

-- name: run_keys_forget
delete from run_key where job_id = any(@run_ids::uuid[])

-- name: run_key_days_old
-- The same as job_part_days_old.
select d.relname
from (select c.relname, to_date(right(c.relname, 8), 'YYYYMMDD')::timestamp at time zone 'UTC' as day
      from pg_inherits i join pg_class c on c.oid = i.inhrelid join pg_class p on p.oid = i.inhparent
      where p.relname = 'run_key' and c.relname ~ '_[0-9]{8}$' and c.relnamespace = 'public'::regnamespace) d
where d.day + interval '1 day' < now() - @kept_h * interval '1 hour'
  and not exists (select from job j where j.finished_at is null
                  and j.id >= job_part_bound(d.day) and j.id < job_part_bound(d.day + interval '1 day'))

-- name: run_webhooks
-- What is to be told of the ends of the runs @job_id with the status @status: their blocks of outgoing_webhook, as
-- their specs say.
select b.job_id, b.block, b.specs ->> 'block_id' as block_id, b.endpoint_id
from unnest(@job_id::uuid[], @status::smallint[]) as u(job_id, status)
join job_block b on b.job_id = u.job_id
where b.endpoint_id is not null and b.type = 'outgoing_webhook'
  and (u.status = :job_completed or (b.specs -> 'specs' ->> 'send_on_failure')::boolean)
order by b.job_id, b.block

-- name: run_monitor_block
-- What the monitor of the block @block is made of, and whether it is there.
select b.specs, b.webhook_url, b.endpoint_id, b.monitor_id, j.params ->> 'dataframe_type' as frame
from job_block b join job j on j.id = b.job_id
where b.job_id = @job_id and b.block = @block

-- name: run_monitor_made
update job_block set monitor_id = @monitor_id where job_id = @job_id and block = @block

-- name: run_monitors_of
select monitor_id from job_block where job_id = @job_id and monitor_id is not null order by block

-- name: run_monitors_left
-- Runs that have ended, of whose monitors some are still starting; @limit monitors at most. A client may name any run
-- in a monitor of its own: the block says whose it is.
select distinct left_behind.job_id
from (
  select b.job_id
  from monitor m
  join job_block b on b.monitor_id = m.id
    and b.job_id = case when m.run_id ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then m.run_id::uuid end
  join job j on j.id = b.job_id and j.finished_at is not null
  where m.status = :status_starting
  limit @limit) left_behind

-- name: run_monitor_keys_known
-- Which of the keys @key_hashes the monitor @monitor_id has. One look at the index a key, behind a fence, as
-- row_find_keys.
select found.key_hash
from unnest(@key_hashes::bytea[]) as k(hash)
cross join lateral (
  select key_hash from monitor_row where monitor_id = @monitor_id and key_hash = k.hash offset 0
) found

-- fragment: run_columns
-- The columns of a job j that is a run.
j.id, j.org_id, j.workflow_id, j.name, j.status, j.status_reason, j.error, j.caller_kind, j.caller_id, j.on_behalf_of,
  j.charged_mc, j.created_at, j.started_at, j.finished_at, j.schedule_id, j.scheduled_at,
  :job_waits_until as waiting_until

-- fragment: run_sums
-- Over the blocks of a job j.
select coalesce(sum(b.rows_total), 0)::bigint as rows_in,
  coalesce(sum(coalesce(i.rows_out, b.rows_out)) filter (where not exists (
    select from job_block c where c.job_id = b.job_id and c.input = b.block)), 0)::bigint as rows_out,
  coalesce(sum(b.row_errors), 0)::bigint as row_errors, count(*)::int as blocks
from job_block b
left join job_block i on i.job_id = b.job_id and i.block = b.input and b.parts_total = 0
where b.job_id = j.id

-- name: run_list
-- @org_id organisation; @statuses statuses; @workflow_id workflow; @limit limit; @after_at, @after time and id of the
-- last one of the page before, null before the first
select :run_columns, b.rows_in, b.rows_out, b.row_errors, b.blocks
from (
  select * from job
  where org_id = @org_id and kind = :kind_workflow
    and (@statuses::smallint[] is null or status = any(@statuses::smallint[]))
    and (@workflow_id::uuid is null or workflow_id = @workflow_id)
    and (created_at, id) < (coalesce(@after_at::timestamptz, 'infinity'),
                            coalesce(@after::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff'))
  order by created_at desc, id desc
  limit @limit) j
cross join lateral (:run_sums) b
order by j.created_at desc, j.id desc

-- name: run_get
select :run_columns, j.params from job j
where j.id = @run_id and j.kind = :kind_workflow and (@org_id::uuid is null or j.org_id = @org_id)

-- name: run_columns_of
select columns from job_block where job_id = @run_id and block = @block

-- name: run_block_specs
select specs from job_block where job_id = @run_id and block = @block

-- name: run_parts
-- The parts of a block from @from on, in order, up to the one with which they have @bytes_max bytes.
select part, rows, row_count
from (select part, rows, row_count,
             sum(octet_length(rows::text)) over (order by part) - octet_length(rows::text) as bytes_before
      from (select part, rows, row_count from job_part
            where job_id = @run_id and block = @block and part >= @from order by part limit @parts_max) first) p
where bytes_before < @bytes_max
order by part

-- name: run_parts_give
-- Further parts of the source of a run that was inserted just now.
insert into job_part (job_id, block, part, rows, row_count)
select @job_id::uuid, 0, p.part, p.rows, p.row_count
from unnest(@part::int[], @rows::json[], @row_count::smallint[]) as p(part, rows, row_count)

-- name: run_scheduled
-- A run that was inserted just now is a schedule's.
update job set schedule_id = @schedule_id, scheduled_at = @scheduled_at where id = @job_id

-- name: run_paces
-- Rows that were timed in the last @limit runs of the organisation @org_id, and the microseconds that they took, by the
-- type of their block and its tier; '' of one that has none.
select b.type, coalesce(b.specs -> 'specs' ->> 'tier', '') as tier, sum(b.rows_timed)::bigint as rows,
       sum(b.rows_took_us)::bigint as took
from (select id from job where org_id = @org_id and kind = :kind_workflow order by created_at desc,
  id desc limit @limit) j
join job_block b on b.job_id = j.id and b.rows_timed > 0
group by 1, 2

-- name: run_active_count
-- Up to @runs_per_org_max.
select count(*) from (select from job where org_id = @org_id and kind = :kind_workflow
  and finished_at is null limit @runs_per_org_max) r

-- name: run_oldest_queued
-- The wait of the oldest queued run among the @limit open jobs whose deadlines come first.
select coalesce(extract(epoch from now() - min(created_at)) * 1000000, 0)::bigint
from (select kind, status, created_at from job where finished_at is null order by deadline_at limit @limit) open
where kind = :kind_workflow and status = :job_queued

-- name: run_admin_list
-- For the operator. @before the last id of the page before, null before the first one; @org_id organisation; @statuses
-- statuses; @limit limit
select :run_columns, b.rows_in, b.rows_out, b.row_errors, b.blocks
from (
  select * from job
  where id < coalesce(@before::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff') and kind = :kind_workflow
    and (@org_id::uuid is null or org_id = @org_id)
    and (@statuses::smallint[] is null or status = any(@statuses::smallint[]))
  order by id desc
  limit @limit) j
cross join lateral (:run_sums) b
order by j.id desc

-- name: runs_ended
select :run_columns, j.params from job j
where j.id = any(@run_ids::uuid[]) and j.kind = :kind_workflow and j.finished_at is not null

-- fragment: run_data_used
-- What the runs of an organisation o left, and what those that go on have written.
(select coalesce(sum(d.bytes), 0) from run_data d where d.org_id = o.id)
  + (select coalesce(sum(b.bytes), 0)
     from job r join job_block b on b.job_id = r.id
     where r.org_id = o.id and r.kind = :kind_workflow and r.finished_at is null)

-- name: run_data_read
select greatest((:run_data_used), 0)::bigint from organisation o where o.id = @org_id

-- name: run_data_over
-- Up to @limit runs that go on, of organisations whose runs have come to @bytes_max bytes. @jobs_max: open jobs that
-- are looked at.
with open as materialized (
  select id, org_id
  from (select id, org_id, kind from job where finished_at is null order by deadline_at limit @jobs_max) j
  where kind = :kind_workflow
), written as (
  select open.org_id, sum(b.bytes) as bytes from open join job_block b on b.job_id = open.id group by open.org_id
)
select open.id
from written w
join open on open.org_id = w.org_id
where w.bytes + (select coalesce(sum(d.bytes), 0) from run_data d where d.org_id = w.org_id) >= @bytes_max::bigint
order by open.id
limit @limit

-- name: run_data_drop_day
-- The day of the dropped table @day, and those before it.
delete from run_data where day <= to_date(right(@day, 8), 'YYYYMMDD')

-- name: run_data_unread_next
select job_id from run_data_unread order by job_id limit 1 for update skip locked

-- name: run_data_unread_drop
-- Up to @limit parts of the source of the run @run_id.
with gone as (
  delete from job_part
  where job_id = @run_id and block = 0
    and part = any (array(select part from job_part where job_id = @run_id and block = 0 order by part limit @limit))
  returning 1)
select count(*) from gone

-- name: run_data_unread_done
-- Nothing of the source of the run @run_id is left.
with gone as (
  delete from run_data_unread where job_id = @run_id returning job_id, bytes
), emptied as (
  update job_block b set bytes = 0 from gone g where b.job_id = g.job_id and b.block = 0
)
insert into run_data (org_id, day, shard, bytes)
select j.org_id, (j.created_at at time zone 'UTC')::date, pg_backend_pid() % 16, -g.bytes
from gone g join job j on j.id = g.job_id
on conflict (org_id, day, shard) do update set bytes = run_data.bytes + excluded.bytes

-- name: run_growing
-- Runs whose parts were cut at least twice too small, and how many rows they are to have: as many as take @target
-- microseconds in the slowest block, by what was measured in this run and by the guess from before it, which counts for
-- @pace_guess_rows rows. Their source is whole, and @grow_parts_left_min parts at least are left. At most @limit;
-- @jobs_max: open jobs that are looked at.
select g.id, g.rows
from (
  select j.id, j.part_rows,
         least(:part_rows_max,
           min(@target::bigint * (b.rows_timed + @pace_guess_rows)
             / greatest(b.rows_took_us + @pace_guess_rows * b.pace_us, 1)))::int as rows
  from (select id, kind, part_rows from job where finished_at is null order by deadline_at limit @jobs_max) j
  join job_block source on source.job_id = j.id and source.block = 0 and source.status = :block_completed
  join job_block b on b.job_id = j.id and b.pace_us > 0
  where j.kind = :kind_workflow and 2 * j.part_rows <= :part_rows_max
    and exists (select from job_block c
                where c.job_id = j.id and c.input = 0 and c.parts_total - c.parts_done >= @grow_parts_left_min)
  group by j.id, j.part_rows) g
where g.rows >= 2 * g.part_rows
order by g.id
limit @limit

-- name: run_grow_from
-- The run @run_id, which is locked, with its chunks: the rows of its parts, the first part that nobody has begun in any
-- block, how many there are from it on, and the bytes of the largest. A chunk was begun where somebody has it or lost it
-- (claims), recorded of it (progress) or gave it back (waits_for), which leaves no claim: its rows may have been asked.
select j.part_rows, f.part, rest.parts, rest.bytes_max
from job j
cross join lateral (
  select coalesce(max(greatest(
    (select max(p.part) + 1 from job_part p where p.job_id = b.job_id and p.block = b.block),
    (select max(c.part) + 1 from job_chunk c
     where c.job_id = b.job_id and c.block = b.block
       and (c.claims > 0 or c.progress > 0 or c.waits_for is not null)))), 0) as part
  from job_block b
  where b.job_id = j.id and b.input = 0 and b.parts_total > 0) f
cross join lateral (
  select count(*)::int as parts, coalesce(max(octet_length(p.rows::text)), 0)::int as bytes_max
  from job_part p
  where p.job_id = j.id and p.block = 0 and p.part >= f.part) rest
where j.id = @run_id

-- name: run_grow
-- Each @times parts of the source of the run @run_id, from the part @from on, become one, and so for every block.
-- Chunks that were opened for them go, to be opened again. @window_rows rows of a block are worked on at once, and
-- @part_window_min parts at least, but where it works in order.
with chunks as (
  delete from job_chunk where job_id = @run_id and part >= @from::int
), given as (
  select part, rows, row_count, @from::int + (part - @from::int) / @times::int as into_part
  from job_part
  where job_id = @run_id and block = 0 and part >= @from::int
), merged as (
  select into_part as part,
         ('[' || coalesce(string_agg(substr(rows::text, 2, length(rows::text) - 2), ',' order by part)
                            filter (where row_count > 0), '') || ']')::json as rows,
         sum(row_count) as row_count
  from given
  group by into_part
), written as (
  update job_part p set rows = m.rows, row_count = m.row_count
  from merged m
  where p.job_id = @run_id and p.block = 0 and p.part = m.part
), gone as (
  delete from job_part
  where job_id = @run_id and block = 0 and part >= @from::int + (select count(*) from merged)
), total as (
  select @from::int + count(*)::int as parts from merged
), larger as (
  update job set part_rows = part_rows * @times::int where id = @run_id returning part_rows
)
update job_block b
set parts_total = t.parts,
    opened = case when b.block = 0 then t.parts else least(b.opened, @from::int) end,
    parts_done = case when b.block = 0 then t.parts else b.parts_done end,
    part_window = case when b.part_window = 1 then 1 else greatest(@part_window_min::int,
      @window_rows::int / l.part_rows) end
from total t, larger l
where b.job_id = @run_id and b.parts_total > 0
  and (b.block > 0 or b.type = 'webhook')  -- a file's source counts the pieces of the file
