-- A migration as releases may bring them: it only adds. Processes of the release before it go on under it, with the
-- statements that they have prepared. Tests alone apply it (tests/fleet/CMakeLists.txt).

-- Columns of what every process writes, and of a partitioned table.
alter table monitor_sched add column next_count int not null default 0;
alter table chunk add column next_count int not null default 0;
alter table job add column next_note text;
alter table job_chunk add column next_note text;
alter table event add column next_note text;

-- A table that refers to an older one, an index, and a rule for rows to come.
create table next_table (
  org_id uuid primary key references organisation,
  at timestamptz not null default now()
);
create index job_next on job (org_id, status) where finished_at is null;
alter table credit_entry add constraint credit_entry_next check (amount_mc > -1000000000000000) not valid;

-- A view that says more.
create or replace view job_shown as
select j.id, j.org_id, j.team_id, j.kind, j.status, j.status_reason, j.error, j.caller_kind, j.caller_id, j.estimate_mc,
       j.reserved_mc, j.charged_mc, j.created_at, j.started_at, j.deadline_at, j.finished_at, b.rows_done, b.rows_total,
       j.next_note
from job j
cross join lateral (
  select coalesce(sum(b.rows_done), 0)::bigint as rows_done,
         coalesce(sum(coalesce(b.rows_total, i.rows_out)), 0)::bigint as rows_total
  from job_block b left join job_block i on i.job_id = b.job_id and i.block = b.input
  where b.job_id = j.id) b;
