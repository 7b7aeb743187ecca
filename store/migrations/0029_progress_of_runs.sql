-- A block that has no parts (outgoing_webhook) shows its input's rows as its own, and does none of them: with them in its total
-- the progress of a run never reached it.
create or replace view job_shown as
select j.id, j.org_id, j.team_id, j.kind, j.status, j.status_reason, j.error, j.caller_kind, j.caller_id, j.estimate_mc,
       j.reserved_mc, j.charged_mc, j.created_at, j.started_at, j.deadline_at, j.finished_at, b.rows_done, b.rows_total
from job j
cross join lateral (
  select coalesce(sum(b.rows_done), 0)::bigint as rows_done,
         coalesce(sum(coalesce(b.rows_total, i.rows_out)), 0)::bigint as rows_total
  from job_block b left join job_block i on i.job_id = b.job_id and i.block = b.input
  where b.job_id = j.id and b.parts_total > 0) b;
