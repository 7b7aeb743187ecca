-- How long a check of a monitor took in its last tick, on average, retries included, rounded up to milliseconds; 0 = not
-- known. By it its next tick is cut into chunks.
alter table monitor_sched add column check_ms int not null default 0;
-- The same of the chunk that logged the block, until its tick is closed.
alter table check_log add column check_ms int;

-- The turn of the last chunk that was cut of the open tick: its next portion goes on from there (domain/turns.h).
alter table monitor_sched add column portion_turn timestamptz;

-- Rows that were switched off or on of late, so that workers that hold them hear of it within seconds (G5). Whoever
-- switches a row removes what is old.
create table row_switch (
  monitor_id uuid not null,
  position int not null,
  is_active boolean not null,
  switched_at timestamptz not null default now(),
  primary key (monitor_id, position)
);
create index row_switch_at on row_switch (switched_at);
