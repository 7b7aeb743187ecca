-- What is known of the rows of a monitor stands by blocks of 256 rows, as their outcomes do in check_log: a check of a
-- whole block writes one row in place of 256, and reads one.

-- Checks wait for the time of this migration, some 1.5 s for a million rows: what they wrote behind its reading would be lost.
lock table row_state in access exclusive mode;

create table state_block (
  monitor_id uuid not null,
  block int not null,  -- position / 256
  tick_id bigint not null default 0,  -- of the newest check of any of its rows; 0 = none yet
  last_run_at timestamptz,  -- until when the last completed check looked, of all rows; null where there are groups
  outcomes bytea not null,  -- of the last check, one byte a row in the order of positions (domain/monitor/enums.h); 0 = none yet
  -- Null where the last check and last_run_at are the same for all rows. Else rows that have both in common are a group:
  -- of which group each row is, one byte a row; the last check of each group; its last_run_at in microseconds since the
  -- epoch, 0 = never.
  groups bytea,
  group_ticks bigint[],
  group_runs bigint[],
  primary key (monitor_id, block),
  constraint state_block_is_whole check (
    length(outcomes) between 1 and 256
    and num_nulls(groups, group_ticks, group_runs) in (0, 3)
    and (groups is null or length(groups) = length(outcomes) and last_run_at is null)
  )
) with (fillfactor = 45);

-- Rows of a block that are not all alike are groups of their own, until the next record of the block.
set local enable_hashagg = off;  -- rows come to their block in the order of their positions
insert into state_block (monitor_id, block, tick_id, last_run_at, outcomes, groups, group_ticks, group_runs)
select b.monitor_id, b.block, b.tick_id, case when b.alike then b.last_run_at end, b.outcomes,
       case when not b.alike then substr(n.numbers, 1, length(b.outcomes)) end, case when not b.alike then b.ticks end,
       case when not b.alike then b.runs end
from (
  select monitor_id, block, max(last_tick_id) as tick_id, max(last_run_at) as last_run_at,
         min(last_tick_id) = max(last_tick_id) and min(run_us) = max(run_us) as alike,
         string_agg(set_byte('\x00', 0, outcome), '') as outcomes, array_agg(last_tick_id) as ticks,
         array_agg(run_us) as runs
  from (
    select monitor_id, position / 256 as block, outcome, last_tick_id, last_run_at,
           coalesce(extract(epoch from last_run_at) * 1000000, 0)::bigint as run_us
    from row_state
    order by monitor_id, position / 256, position
  ) r
  group by monitor_id, block
) b
cross join (select string_agg(set_byte('\x00', 0, i), '' order by i) as numbers from generate_series(0, 255) i) n;

drop table row_state;

-- The same by row, for people and for processes of the version before.
create view row_state as
select b.monitor_id, b.block * 256 + p.place as position, get_byte(b.outcomes, p.place)::smallint as outcome,
       case when b.groups is null then b.tick_id
            else b.group_ticks[get_byte(b.groups, p.place) + 1] end as last_tick_id,
       case when b.groups is null then b.last_run_at
            else timestamptz 'epoch' + nullif(b.group_runs[get_byte(b.groups, p.place) + 1], 0)
                 * interval '1 microsecond' end as last_run_at
from state_block b
cross join lateral generate_series(0, length(b.outcomes) - 1) as p(place);

-- A process of the version before writes rows. Each becomes a group of its own until all are alike.
create function row_state_put() returns trigger language plpgsql as $$
declare
  b state_block;
  place int := new.position % 256;
  run_us bigint := coalesce(extract(epoch from new.last_run_at) * 1000000, 0);
begin
  select * into b from state_block where monitor_id = new.monitor_id and block = new.position / 256 for update;
  if not found then
    b := (new.monitor_id, new.position / 256, 0, null, '', '', '{}', '{}');
  elsif b.groups is null then
    b.group_ticks := array_fill(b.tick_id, array[length(b.outcomes)]);
    b.group_runs := array_fill(coalesce(extract(epoch from b.last_run_at) * 1000000, 0)::bigint,
                               array[length(b.outcomes)]);
  else
    select array_agg(b.group_ticks[get_byte(b.groups, i) + 1] order by i),
           array_agg(b.group_runs[get_byte(b.groups, i) + 1] order by i)
    into b.group_ticks, b.group_runs
    from generate_series(0, length(b.outcomes) - 1) i;
  end if;
  if place = length(b.outcomes) then
    b.outcomes := b.outcomes || '\x00';
  elsif place > length(b.outcomes) then
    raise exception 'the rows of a monitor are added in their order';
  elsif tg_op = 'UPDATE' and b.group_ticks[place + 1] is distinct from old.last_tick_id then
    return null;  -- somebody else was faster: nothing is written
  end if;
  b.outcomes := set_byte(b.outcomes, place, coalesce(new.outcome, 0));
  b.group_ticks[place + 1] := coalesce(new.last_tick_id, 0);
  b.group_runs[place + 1] := run_us;
  b.tick_id := greatest(b.tick_id, new.last_tick_id);
  if b.tick_id = all (b.group_ticks) and run_us = all (b.group_runs) then
    b.groups := null;
    b.group_ticks := null;
    b.group_runs := null;
    b.last_run_at := new.last_run_at;
  else
    select string_agg(set_byte('\x00', 0, i), '' order by i) into b.groups
    from generate_series(0, length(b.outcomes) - 1) i;
    b.last_run_at := null;
  end if;
  insert into state_block values (b.*)
  on conflict (monitor_id, block) do update
    set tick_id = excluded.tick_id, last_run_at = excluded.last_run_at, outcomes = excluded.outcomes,
        groups = excluded.groups, group_ticks = excluded.group_ticks, group_runs = excluded.group_runs;
  return new;
end $$;
create trigger row_state_put instead of insert or update on row_state
  for each row execute function row_state_put();

-- It deletes all rows of a monitor that was deleted, some at a time, and they are of no use to anybody by then.
create function row_state_delete() returns trigger language plpgsql as $$
begin
  delete from state_block where monitor_id = old.monitor_id and block = old.position / 256;
  return old;
end $$;
create trigger row_state_delete instead of delete on row_state for each row execute function row_state_delete();
