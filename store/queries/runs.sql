-- name: run_upload_unit
-- The text of the part $2 of the file $1, and how many parts of $3 rows those before it make.
select p.first_line, p.text,
       (select coalesce(sum((b.row_count + $3::int - 1) / $3::int), 0)::int
        from upload_part b where b.upload_id = $1 and b.part < $2)
from upload_part p
where p.upload_id = $1 and p.part = $2

-- name: run_upload
-- Of a finished file: its columns and rows, its parts, and how many parts of $3 rows they make.
select u.columns, u.row_count, u.part_count,
       (select coalesce(sum((p.row_count + $3::int - 1) / $3::int), 0)::int from upload_part p where p.upload_id = u.id)
from upload u
where u.id = $1 and u.org_id = $2 and u.finished_at is not null and u.expires_at > now()

-- name: run_keys_seen
select k.key_hash from run_key k
where k.job_id = $1 and k.block = $2 and k.key_hash = any($3::bytea[])

-- name: run_key_insert
insert into run_key (job_id, block, key_hash)
select u.job_id, u.block, u.key_hash from unnest($1::uuid[], $2::smallint[], $3::bytea[]) as u(job_id, block, key_hash)

-- name: run_keys_forget
delete from run_key where job_id = any($1::uuid[])

-- name: run_key_days_old
-- As job_part_days_old.
select d.relname
from (select c.relname, to_date(right(c.relname, 8), 'YYYYMMDD')::timestamp at time zone 'UTC' as day
      from pg_inherits i join pg_class c on c.oid = i.inhrelid join pg_class p on p.oid = i.inhparent
      where p.relname = 'run_key' and c.relname ~ '_[0-9]{8}$' and c.relnamespace = 'public'::regnamespace) d
where d.day + interval '1 day' < now() - $1 * interval '1 hour'
  and not exists (select from job j where j.finished_at is null
                  and j.id >= job_part_bound(d.day) and j.id < job_part_bound(d.day + interval '1 day'))

-- name: run_webhooks
-- What is to be told of the ends of the runs $1 with the status $2: their blocks of outgoing_webhook, as their specs say.
select b.job_id, b.block, b.specs ->> 'block_id', b.endpoint_id
from unnest($1::uuid[], $2::smallint[]) as u(job_id, status)
join job_block b on b.job_id = u.job_id
where b.endpoint_id is not null and b.type = 'outgoing_webhook'
  and (u.status = :job_completed or (b.specs -> 'specs' ->> 'send_on_failure')::boolean)
order by b.job_id, b.block

-- name: run_monitor_block
-- What the monitor of the block $2 is made of, and whether it is there.
select b.specs, b.webhook_url, b.endpoint_id, b.monitor_id, j.params ->> 'dataframe_type'
from job_block b join job j on j.id = b.job_id
where b.job_id = $1 and b.block = $2

-- name: run_monitor_made
update job_block set monitor_id = $3 where job_id = $1 and block = $2

-- name: run_monitors_of
select monitor_id from job_block where job_id = $1 and monitor_id is not null order by block

-- name: run_monitors_left
-- Runs that have ended, of whose monitors some are still starting; $1 monitors at most. A client may name any run in a
-- monitor of its own: the block says whose it is.
select distinct left_behind.job_id
from (
  select b.job_id
  from monitor m
  join job_block b on b.monitor_id = m.id
    and b.job_id = case when m.run_id ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then m.run_id::uuid end
  join job j on j.id = b.job_id and j.finished_at is not null
  where m.status = :status_starting
  limit $1) left_behind

-- name: run_monitor_keys_known
-- Which of the keys $2 the monitor $1 has. One look at the index a key, behind a fence, as row_find_keys.
select found.key_hash
from unnest($2::bytea[]) as k(hash)
cross join lateral (
  select key_hash from monitor_row where monitor_id = $1 and key_hash = k.hash offset 0
) found

-- fragment: run_columns
-- Of a job j that is a run.
j.id, j.org_id, j.workflow_id, j.name, j.status, j.status_reason, j.error, j.caller_kind, j.caller_id, j.on_behalf_of,
  j.charged_mc, j.created_at, j.started_at, j.finished_at, :job_waits_until

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
-- $1 organisation; $2 statuses; $3 workflow; $4 limit
select :run_columns, b.rows_in, b.rows_out, b.row_errors, b.blocks
from (
  select * from job
  where org_id = $1 and kind = :kind_workflow
    and ($2::smallint[] is null or status = any($2::smallint[]))
    and ($3::uuid is null or workflow_id = $3)
  order by created_at desc, id desc
  limit $4) j
cross join lateral (:run_sums) b
order by j.created_at desc, j.id desc

-- name: run_get
select :run_columns, j.params from job j
where j.id = $1 and j.kind = :kind_workflow and ($2::uuid is null or j.org_id = $2)

-- name: run_columns_of
select columns from job_block where job_id = $1 and block = $2

-- name: run_block_specs
select specs from job_block where job_id = $1 and block = $2

-- name: run_parts
-- The parts of a block from $3 on, in order, up to the one with which they have $4 bytes.
select part, rows, row_count
from (select part, rows, row_count,
             sum(octet_length(rows::text)) over (order by part) - octet_length(rows::text) as bytes_before
      from (select part, rows, row_count from job_part
            where job_id = $1 and block = $2 and part >= $3 order by part limit $5) first) p
where bytes_before < $4
order by part

-- name: run_paces
-- Rows that were timed in the last $2 runs of the organisation $1, and the microseconds that they took, by the type of
-- their block and its tier; '' of one that has none.
select b.type, coalesce(b.specs -> 'specs' ->> 'tier', ''), sum(b.rows_timed)::bigint, sum(b.rows_took_us)::bigint
from (select id from job where org_id = $1 and kind = :kind_workflow order by created_at desc, id desc limit $2) j
join job_block b on b.job_id = j.id and b.rows_timed > 0
group by 1, 2

-- name: run_active_count
-- Up to $2.
select count(*) from (select from job where org_id = $1 and kind = :kind_workflow and finished_at is null limit $2) r

-- name: run_oldest_queued
-- Of the $1 open jobs whose deadlines come first.
select coalesce(extract(epoch from now() - min(created_at)) * 1000000, 0)::bigint
from (select kind, status, created_at from job where finished_at is null order by deadline_at limit $1) open
where kind = :kind_workflow and status = :job_queued

-- name: run_admin_list
-- For the operator. $1 the last id of the page before, null before the first one; $2 organisation; $3 statuses; $4 limit
select :run_columns, b.rows_in, b.rows_out, b.row_errors, b.blocks
from (
  select * from job
  where id < coalesce($1::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff') and kind = :kind_workflow
    and ($2::uuid is null or org_id = $2)
    and ($3::smallint[] is null or status = any($3::smallint[]))
  order by id desc
  limit $4) j
cross join lateral (:run_sums) b
order by j.id desc

-- name: runs_ended
select :run_columns, j.params from job j
where j.id = any($1::uuid[]) and j.kind = :kind_workflow and j.finished_at is not null
