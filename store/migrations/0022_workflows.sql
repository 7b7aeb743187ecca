-- Workflows: saved graphs of blocks, and what their runs need of the engine of jobs. Additive:
-- processes of the version before go on under it.

create table workflow (
  id uuid primary key,
  org_id uuid not null references organisation,
  name text not null,
  description text not null,
  definition json not null,  -- domain/workflow/definition.h
  caller_kind smallint not null check (caller_kind between 0 and 3),  -- who made it
  caller_id uuid not null,
  on_behalf_of text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  deleted_at timestamptz  -- its runs go on, and are still found by it
);
create index workflow_org on workflow (org_id, id desc) where deleted_at is null;

-- Where a block sends the end of its run: of outgoing_webhook alone.
alter table job_block
  add column webhook_url text check (length(webhook_url) between 1 and 2083),
  add column endpoint_id uuid,
  add constraint job_block_webhook check ((webhook_url is null) = (endpoint_id is null));
create index job_block_endpoint on job_block (endpoint_id) where endpoint_id is not null;

-- A key may stand for a workflow that was made.
alter table idempotency_key
  add column workflow_id uuid,
  drop constraint idempotency_key_subject,
  add constraint idempotency_key_subject check (num_nonnulls(monitor_id, job_id, workflow_id) = 1) not valid;

-- What a block `dedupe` has seen. Partitioned and dropped as job_part, by the day of the job's id.
create table run_key (
  job_id uuid not null,
  block smallint not null,
  key_hash bytea not null check (length(key_hash) = 16),
  primary key (job_id, block, key_hash)
) partition by range (job_id);
create table run_key_default partition of run_key default;

-- As before, and for run_key, whose partitions are days as those of job_part are.
create or replace function ensure_partition(parent text, week timestamptz, moved_rows_max int) returns boolean
language plpgsql
-- A transaction that waits for these locks waits no longer than that.
set lock_timeout = '2s' as $$
declare
  name text := parent || '_' || to_char(week at time zone 'UTC', 'YYYYMMDD');
  rest text := parent || '_default';
  is_of_jobs boolean := parent in ('job_part', 'run_key');
  key_column text := case when parent = 'delivery_attempt' then 'attempted_at' when is_of_jobs then 'job_id'
                     else 'tick_id' end;
  lower_bound text;
  upper_bound text;
  found int;
begin
  if to_regclass(name) is not null then return true; end if;
  if parent = 'delivery_attempt' then
    lower_bound := quote_literal(week);
    upper_bound := quote_literal(week + interval '7 days');
  elsif is_of_jobs then
    lower_bound := quote_literal(job_part_bound(week));
    upper_bound := quote_literal(job_part_bound(week + interval '1 day'));
  else
    lower_bound := (extract(epoch from week) * 1000000)::bigint::text;
    upper_bound := (extract(epoch from week + interval '7 days') * 1000000)::bigint::text;
  end if;
  -- More rows than can be moved in one go stay where they are, until their retention ends.
  execute format('select count(*) from (select from only %I where %I >= %s and %I < %s limit %s) r',
                 rest, key_column, lower_bound, key_column, upper_bound, moved_rows_max + 1) into found;
  if found > moved_rows_max then return false; end if;
  -- The parent goes first, as for everybody who writes. With both locks nobody reads or writes the default partition
  -- while its rows move, so they are never missed and never seen twice.
  execute format('lock table only %I in share update exclusive mode', parent);
  execute format('lock table only %I in access exclusive mode', rest);
  execute format('create table %I (like %I including all)', name, parent);
  execute format('with moved as (delete from only %I where %I >= %s and %I < %s returning *) '
                 'insert into %I select * from moved',
                 rest, key_column, lower_bound, key_column, upper_bound, name);
  execute format('alter table %I attach partition %I for values from (%s) to (%s)',
                 parent, name, lower_bound, upper_bound);
  return true;
end $$;

select ensure_partition('run_key', (date_trunc('day', now() at time zone 'UTC') + k * interval '1 day')
                                   at time zone 'UTC', 0)
from generate_series(0, 8) k;
