-- name: jobs_overdue
-- Not one that somebody has locked: who ends it, or a record, which ends it itself where its deadline has come.
select id from job
where finished_at is null and deadline_at <= now()
order by deadline_at
limit @limit
for no key update skip locked

-- name: jobs_stalled
-- The next @limit open jobs behind (@deadline_at, @job_id), and whether nobody works on them and nothing has moved for
-- @stalled_after_s seconds.
select j.deadline_at, j.id,
       j.created_at < now() - @stalled_after_s * interval '1 second'
         and not exists (select from job_chunk c where c.job_id = j.id)
         and not exists (select from job_block b where b.job_id = j.id
                         and b.updated_at >= now() - @stalled_after_s * interval '1 second') as is_stalled
from (select deadline_at, id, created_at from job
      where finished_at is null and (deadline_at, id) > (coalesce(@deadline_at::timestamptz, '-infinity'), @job_id)
      order by deadline_at, id
      limit @limit) j
order by j.deadline_at, j.id

-- name: jobs_retire
-- @jobs_h hours, @runs_h those of runs; @limit jobs
select j.id from job j
where j.finished_at < now() - least(@jobs_h::int, @runs_h::int) * interval '1 hour'
  and j.finished_at < now() - interval '1 hour'
                      * case when j.kind = :kind_workflow then @runs_h::int else @jobs_h::int end
  and not exists (select from delivery d where d.job_id = j.id)
order by j.finished_at
limit @limit
for update skip locked

-- name: jobs_forget
delete from job where id = any(@ids::uuid[])
