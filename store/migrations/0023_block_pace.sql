-- How long rows of a block took, each for itself: what the parts of later runs are sized by.
-- Additive: what a process of the version before records counts in neither.
alter table job_block
  add column rows_timed bigint not null default 0,
  add column rows_took_us bigint not null default 0;
