-- Jobs: what one request asks for that takes longer than a request should (docs/architecture.md). Additive: processes of
-- the version before go on under it. The numbers in smallint columns are the enums of domain/job.h and domain/names.h.

create table job (
  id uuid primary key,
  org_id uuid not null references organisation,
  team_id uuid references team,
  kind smallint not null check (kind between 0 and 6),
  status smallint not null default 0 check (status between 0 and 6),
  status_reason text,
  error text,
  name text,
  workflow_id uuid,
  upload_id uuid,
  part_rows smallint not null check (part_rows between 1 and 256),
  params json not null,                    -- a lookup: its request, rows included
  waited boolean not null default false,   -- a client waits: its chunks have rank 0, and the end is signalled
  caller_kind smallint not null check (caller_kind between 0 and 3),
  caller_id uuid not null,
  remote_address text not null,
  estimate_mc bigint not null check (estimate_mc >= 0),
  reserved_mc bigint not null check (reserved_mc >= 0),
  charged_mc bigint not null default 0 check (charged_mc >= 0),
  month date not null,                     -- whose team_spend it counts in, to its end
  webhook_url text check (length(webhook_url) between 1 and 2083),
  endpoint_id uuid,
  created_at timestamptz not null default now(),
  started_at timestamptz,
  deadline_at timestamptz not null,
  finished_at timestamptz,
  check ((status >= 2) = (finished_at is not null)),
  check (finished_at is null or reserved_mc = 0),
  check (reserved_mc + charged_mc <= estimate_mc),
  check ((webhook_url is null) = (endpoint_id is null)),
  check (started_at >= created_at),
  check (finished_at >= coalesce(started_at, created_at))
) with (fillfactor = 70);
-- No index holds a column that a record writes, so that a record's update stays in its page.
create index job_org on job (org_id, id desc);
create index job_open_org on job (org_id, kind) where finished_at is null;
create index job_open_deadline on job (deadline_at) where finished_at is null;
create index job_open_upload on job (upload_id) where finished_at is null and upload_id is not null;
create index job_finished on job (finished_at) where finished_at is not null;
create index job_run_created on job (org_id, created_at desc, id desc) where kind = 5;
create index job_run_status on job (org_id, status, created_at desc, id desc) where kind = 5;
create index job_run_workflow on job (workflow_id, created_at desc, id desc) where kind = 5;
create index job_endpoint on job (endpoint_id) where finished_at is null and endpoint_id is not null;

create table job_block (
  job_id uuid not null references job,
  block smallint not null check (block between 0 and 63),
  type text not null,
  specs json not null,
  input smallint check (input between 0 and block - 1),
  lane smallint not null check (lane between 0 and 3),
  price_mc bigint not null check (price_mc >= 0),  -- of a row, fixed at the start
  after_drop boolean not null,                     -- a block before it drops rows
  columns text[],                                  -- of its output, once bound
  rows_total bigint check (rows_total >= 0),       -- of a block without input
  parts_total int not null check (parts_total >= 0),
  opened int not null default 0,
  parts_done int not null default 0 check (parts_done >= 0),
  part_window int not null check (part_window >= 1),
  rows_done bigint not null default 0 check (rows_done >= 0),
  rows_out bigint not null default 0 check (rows_out >= 0),
  row_errors bigint not null default 0 check (row_errors >= 0),
  rows_charged bigint not null default 0 check (rows_charged >= 0),
  status smallint not null default 0 check (status between 0 and 3),
  error text,
  started_at timestamptz,
  updated_at timestamptz not null default now(),
  finished_at timestamptz,
  primary key (job_id, block),
  check (parts_done <= opened and opened <= parts_total)
) with (fillfactor = 50);

-- A job with its progress: what the API and the admin port read. A block without rows of its own to begin with works on
-- those that its input has made.
create view job_shown as
select j.id, j.org_id, j.team_id, j.kind, j.status, j.status_reason, j.error, j.caller_kind, j.caller_id, j.estimate_mc,
       j.reserved_mc, j.charged_mc, j.created_at, j.started_at, j.deadline_at, j.finished_at, b.rows_done, b.rows_total
from job j
cross join lateral (
  select coalesce(sum(b.rows_done), 0)::bigint as rows_done,
         coalesce(sum(coalesce(b.rows_total, i.rows_out)), 0)::bigint as rows_total
  from job_block b left join job_block i on i.job_id = b.job_id and i.block = b.input
  where b.job_id = j.id) b;

-- Rows that a request gave or a block made, written once. Partitioned by the day of the job's id: see job_part_bound.
create table job_part (
  job_id uuid not null,
  block smallint not null,
  part int not null check (part >= 0),
  rows json not null,  -- array of arrays, cells in the order of job_block.columns; null = a row that was not recorded
  row_count smallint not null check (row_count between 0 and 256),
  primary key (job_id, block, part)
) partition by range (job_id);
create table job_part_default partition of job_part default;
do $$
begin
  execute 'alter table job_part alter column rows set compression lz4';
exception when others then
  null;  -- a server that was built without it
end $$;

-- One block over one part, leased to one worker as a unit.
create table job_chunk (
  id uuid primary key,
  org_id uuid not null,
  lane smallint not null check (lane between 0 and 3),
  rank smallint not null check (rank between 0 and 1),  -- 0: a client waits
  available_at timestamptz not null,  -- due time, then the lease's end
  due_at timestamptz not null,
  lease_token uuid,
  claims int not null default 0 check (claims >= 0),  -- since the last progress
  job_id uuid not null,
  block smallint not null,
  part int not null,
  done json,                          -- ends of rows: {"rows": [cells or null, ..], "later": {..}}
  progress int not null default 0 check (progress >= 0),  -- records made of it
  suspect smallint check (suspect between -1 and 255),    -- the row on its last try; -1: the whole part
  unique (job_id, block, part)
) with (fillfactor = 70);
create index job_chunk_due on job_chunk (lane, org_id, rank, available_at);

-- Who must not be looked up (kinds: address, domain, profile URL, person). Only hashes are kept.
create table suppression (
  id uuid primary key,
  kind smallint not null check (kind between 0 and 3),
  hash bytea not null check (length(hash) = 32),
  org_id uuid references organisation,  -- null: of every organisation
  reason text not null,
  created_at timestamptz not null default now()
);
create unique index suppression_once
  on suppression (kind, hash, coalesce(org_id, '00000000-0000-0000-0000-000000000000'));

-- What exists learns of jobs -----------------------------------------------------------------------------------------

-- The lanes that a live worker serves.
alter table member add column lanes text[] not null default '{}';

alter table idempotency_key
  add column job_id uuid,
  alter column monitor_id drop not null,
  alter column row_count drop not null,
  add constraint idempotency_key_subject check ((job_id is null) = (monitor_id is not null)) not valid;

-- "checks is null" still means a booking; a charge of a job has no tier.
alter table credit_entry
  add column job_id uuid,
  drop constraint credit_entry_check,
  add constraint credit_entry_check check (checks is null or (tier is null) <> (job_id is null)) not valid,
  add constraint credit_entry_booking check (checks is not null or (tier is null and job_id is null)) not valid;

alter table delivery
  add column job_id uuid,
  add column block smallint,
  add column job_status smallint,
  alter column monitor_id drop not null,
  alter column row_id drop not null,
  drop constraint delivery_type_check,
  add constraint delivery_type_check check (type between 0 and 15) not valid,
  add constraint delivery_subject check ((job_id is null) = (monitor_id is not null)) not valid,
  add constraint delivery_row check ((monitor_id is null) = (row_id is null)) not valid,
  add constraint delivery_job_status check ((job_id is null) = (job_status is null)) not valid;
create index delivery_job on delivery (job_id) where job_id is not null;

alter table delivery_attempt
  add column job_id uuid,
  add column block smallint,
  add column job_status smallint,
  alter column monitor_id drop not null,
  alter column row_id drop not null,
  add constraint delivery_attempt_subject check ((job_id is null) = (monitor_id is not null)) not valid;

-- Partitions ---------------------------------------------------------------------------------------------------------

-- The least UUIDv7 of a millisecond: ids of one day lie between the bounds of two days.
create function job_part_bound(at timestamptz) returns uuid language sql immutable as $$
  select (substr(t.hex, 1, 8) || '-' || substr(t.hex, 9, 4) || '-0000-0000-000000000000')::uuid
  from (select lpad(to_hex(floor(extract(epoch from at) * 1000)::bigint), 12, '0') as hex) t
$$;

-- As before, and for job_part, whose partitions are days: `week` is then the day.
create or replace function ensure_partition(parent text, week timestamptz, moved_rows_max int) returns boolean
language plpgsql
-- A transaction that waits for these locks waits no longer than that.
set lock_timeout = '2s' as $$
declare
  name text := parent || '_' || to_char(week at time zone 'UTC', 'YYYYMMDD');
  rest text := parent || '_default';
  key_column text := case parent when 'delivery_attempt' then 'attempted_at' when 'job_part' then 'job_id'
                     else 'tick_id' end;
  lower_bound text;
  upper_bound text;
  found int;
begin
  if to_regclass(name) is not null then return true; end if;
  if parent = 'delivery_attempt' then
    lower_bound := quote_literal(week);
    upper_bound := quote_literal(week + interval '7 days');
  elsif parent = 'job_part' then
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

select ensure_partition('job_part', (date_trunc('day', now() at time zone 'UTC') + k * interval '1 day')
                                    at time zone 'UTC', 0)
from generate_series(0, 8) k;
