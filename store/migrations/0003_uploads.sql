-- Uploaded CSV files, and the adding of their rows to monitors.

create table upload (
  id uuid primary key,
  org_id uuid not null references organisation,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  finished_at timestamptz,  -- null: still being received, or broken off
  columns text[] not null default '{}',
  row_count bigint not null default 0 check (row_count >= 0),
  part_count int not null default 0 check (part_count >= 0)
);
create index upload_expires on upload (expires_at);

-- Whole records of the file, in order, as they came (the header is not among them).
create table upload_part (
  upload_id uuid not null references upload on delete cascade,
  part int not null check (part >= 0),
  first_line bigint not null,
  row_count int not null check (row_count > 0),
  text text not null,
  primary key (upload_id, part)
);
-- Compressing costs more than the disk of a day.
alter table upload_part alter column text set storage external;

-- A monitor that is `starting`: parts [0, next_part) have been added.
create table monitor_import (
  monitor_id uuid primary key references monitor,
  org_id uuid not null,
  upload_id uuid not null references upload,
  next_part int not null default 0 check (next_part >= 0),
  taken_at timestamptz not null default now()  -- the one taken longest ago comes next
);
create index monitor_import_taken on monitor_import (taken_at);
create index monitor_import_upload on monitor_import (upload_id);
