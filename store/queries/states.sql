-- fragment: state_block_columns
b.tick_id, b.last_run_at, b.outcomes, b.groups, b.group_ticks, b.group_runs

-- fragment: state_outcome
-- The outcome of the row at p.position, in the block b; the same of state_tick_id and state_last_run_at.
get_byte(b.outcomes, p.position % :block_rows)

-- fragment: state_tick_id
case when b.groups is null then b.tick_id
     else b.group_ticks[get_byte(b.groups, p.position % :block_rows) + 1] end

-- fragment: state_last_run_at
case when b.groups is null then b.last_run_at
     else timestamptz 'epoch' + nullif(b.group_runs[get_byte(b.groups, p.position % :block_rows) + 1], 0)
          * interval '1 microsecond' end

-- fragment: state_of_row
-- The state of a row p: a look at the index, behind a fence.
select :state_last_run_at as last_run_at, :state_outcome as outcome, :state_tick_id as last_tick_id
from state_block b
where b.monitor_id = p.monitor_id and b.block = p.position / :block_rows offset 0

-- fragment: state_of_r
cross join lateral (select r.monitor_id, r.position) p
cross join lateral (
  :state_of_row
) s

-- fragment: state_at
-- The state s of the row at @position.
(select @monitor_id::uuid as monitor_id, @position::int as position) p
cross join lateral (
  :state_of_row
) s

-- name: states_of_parts
select p.n, b.block, :state_block_columns
from unnest(@monitor_id::uuid[], @first::int[], @ending::int[]) with ordinality as p(monitor_id, first, ending, n)
join state_block b on b.monitor_id = p.monitor_id and b.block >= p.first / :block_rows
                      and b.block <= (p.ending - 1) / :block_rows

-- fragment: blocks_locked
-- One after the other in their order, so that those who write the same ones wait for each other in one order.
from unnest(@monitor_id::uuid[], @block::int[]) as u(monitor_id, block)
join state_block b on b.monitor_id = u.monitor_id and b.block = u.block
order by b.monitor_id, b.block
for update of b

-- name: states_lock
select b.monitor_id, b.block, :state_block_columns
:blocks_locked

-- name: states_write
-- @group_ticks and @group_runs have the groups of all blocks, one block's behind the other's.
update state_block b
set tick_id = u.tick_id,
    last_run_at = timestamptz 'epoch' + u.last_run_us * interval '1 microsecond',
    outcomes = u.outcomes, groups = u.groups,
    group_ticks = case when u.groups is not null then (@group_ticks::bigint[])[u.group_from : u.group_until] end,
    group_runs = case when u.groups is not null then (@group_runs::bigint[])[u.group_from : u.group_until] end
from (select unnest(@monitor_id::uuid[]) as monitor_id, unnest(@block::int[]) as block,
             unnest(@tick_id::bigint[]) as tick_id, unnest(@last_run_us::bigint[]) as last_run_us,
             unnest(@outcomes::bytea[]) as outcomes, unnest(@groups::bytea[]) as groups,
             unnest(@group_from::int[]) as group_from, unnest(@group_until::int[]) as group_until) as u
where b.monitor_id = u.monitor_id and b.block = u.block

-- name: states_insert
-- States of rows that were not checked yet, from the beginning of a block on: @first is a multiple of its rows.
insert into state_block (monitor_id, block, outcomes)
select @monitor_id, first / :block_rows,
       decode(repeat('00', least(@end::int - first, :block_rows)), 'hex')
from generate_series(@first::int, @end::int - 1, :block_rows) as first
