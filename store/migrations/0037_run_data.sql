-- What the rows of runs take of the disk, and how large the parts of a run may become while it goes on. Additive: what a process of the
-- version before writes of a run counts for nothing, and the parts of its runs stay as they are.
alter table job_block
  add column bytes bigint not null default 0,    -- the parts that it has made, as text, and what each takes beside it
  add column pace_us bigint not null default 0;  -- a row's time, as guessed when the run was cut into parts; 0: it has none

-- What runs that have ended left, by the day that job_part drops it with. Several rows of a day add up: a session has one of its own, so
-- that ends of one organisation's runs do not wait for each other. One may be negative, as what is dropped before its day is taken off.
create table run_data (
  org_id uuid not null,
  day date not null,
  shard smallint not null,
  bytes bigint not null,
  primary key (org_id, day, shard)
) with (fillfactor = 50);

-- Cancelled runs whose source's rows, which nobody can read any more, are to be dropped.
create table run_data_unread (
  job_id uuid primary key,
  bytes bigint not null  -- of these rows
);
