-- name: jobs_overdue
-- Not one that somebody has locked: who ends it, or a record, which ends it itself where its deadline has come.
select id from job
where finished_at is null and deadline_at <= now()
order by deadline_at
limit $1
for no key update skip locked

-- name: jobs_stalled
-- The next $3 open jobs behind ($1, $2), and whether nobody works on them and nothing has moved for $4 seconds.
select j.deadline_at, j.id,
       j.created_at < now() - $4 * interval '1 second'
         and not exists (select from job_chunk c where c.job_id = j.id)
         and not exists (select from job_block b where b.job_id = j.id
                         and b.updated_at >= now() - $4 * interval '1 second')
from (select deadline_at, id, created_at from job
      where finished_at is null and (deadline_at, id) > (coalesce($1::timestamptz, '-infinity'), $2)
      order by deadline_at, id
      limit $3) j
order by j.deadline_at, j.id

-- name: jobs_retire
-- $1 hours, $2 those of runs; $3 jobs
select j.id from job j
where j.finished_at < now() - least($1::int, $2::int) * interval '1 hour'
  and j.finished_at < now() - case when j.kind = :kind_workflow then $2::int else $1::int end * interval '1 hour'
  and not exists (select from delivery d where d.job_id = j.id)
order by j.finished_at
limit $3
for update skip locked

-- name: jobs_forget
delete from job where id = any($1::uuid[])
