-- name: event_list
-- Types: error (1) before change (0); 2 - event_type is the rank within a check. $6 and $7, if given: only what comes
-- behind this rank and field in tick $3.
select * from (
  select e.*, b.bytes,
         sum(b.bytes) over (order by tick_id desc, event_type desc, field collate "C" rows unbounded preceding)
           as bytes_until
  from (
    select id, event_type, event_group_id, tick_id, field, previous_value, current_value, message, evidence, sources,
           confidence, created_at
    from event
    where row_id = $1 and tick_id between $2 and $3
      and ($6::int is null or tick_id < $3 or 2 - event_type > $6
           or (2 - event_type = $6 and field collate "C" > $7::text))
    order by tick_id desc, event_type desc, field collate "C"
    limit $4
  ) e
  cross join lateral (
    select coalesce(octet_length(previous_value::text), 0) + coalesce(octet_length(current_value::text), 0)
           + coalesce(octet_length(message), 0) + coalesce(octet_length(evidence), 0)
           + coalesce(octet_length(sources::text), 0) as bytes
  ) b
) page
where bytes_until - bytes < $5
order by tick_id desc, event_type desc, field collate "C"

-- name: event_tick
select tick_id from event where row_id = $1 and event_group_id = $2 limit 1

-- name: outcome_list_ticks
-- `case`, because get_byte fails beyond the end.
select tick_id, get_byte(outcomes, $2::int) as outcome
from tick
where monitor_id = $1 and tick_id between $3 and $4 and outcomes is not null
  and case when length(outcomes) > $2::int then get_byte(outcomes, $2::int) end = any ($5::int[])
order by tick_id desc
limit $6

-- name: outcome_list_log
select tick_id, get_byte(outcomes, $3::int - first) as outcome
from check_log
where monitor_id = $1 and block = $2 and tick_id between $4 and $5
  and case when $3::int >= first and $3::int < first + length(outcomes)
           then get_byte(outcomes, $3::int - first) end = any ($6::int[])
order by tick_id desc
limit $7

-- name: outcome_last
select last_tick_id as tick_id, outcome
from row_state
where monitor_id = $1 and position = $2 and last_tick_id between $3 and $4 and outcome = any ($5::int[])

-- name: tick_ids
select tick_id from tick where monitor_id = $1 and tick_id < $2 order by tick_id desc limit $3

-- name: tick_last
select last_tick_id from row_state where monitor_id = $1 and position = $2

-- name: tick_list
select tick_id, trigger, due_at, started_at, finished_at, slots, row_count, outcomes, counts
from (
  select tick_id, trigger, due_at, started_at, finished_at, slots, row_count, outcomes, counts
  from tick
  where monitor_id = $1 and tick_id < $2
  union all
  select open_tick_id, open_trigger, open_due_at, open_started_at, null, open_slots, open_rows, null, null
  from monitor_sched
  where monitor_id = $1 and open_tick_id < $2 and not open_large
) t
order by tick_id desc
limit $3
