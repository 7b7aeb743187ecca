-- fragment: event_columns
id, event_type, event_group_id, tick_id, field, previous_value, current_value, message, evidence, sources, confidence,
  created_at

-- name: event_list
-- The rank within a check is `completion - type`: error before change. $6 and $7, if given: only what comes
-- behind this rank and field in tick $3.
select :event_columns, bytes_until from (
  select e.*, b.bytes,
         sum(b.bytes) over (order by tick_id desc, event_type desc, field collate "C" rows unbounded preceding)
           as bytes_until
  from (
    select :event_columns
    from event
    where row_id = $1 and tick_id between $2 and $3
      and ($6::int is null or tick_id < $3 or :event_completion - event_type > $6
           or (:event_completion - event_type = $6 and field collate "C" > $7::text))
    order by tick_id desc, event_type desc, field collate "C"
    limit $4
  ) e
  cross join lateral (select :event_bytes as bytes) b
) page
where bytes_until - bytes < $5
order by tick_id desc, event_type desc, field collate "C"

-- fragment: event_bytes
-- What an event adds to a page.
coalesce(octet_length(previous_value::text), 0) + coalesce(octet_length(current_value::text), 0)
  + coalesce(octet_length(message), 0) + coalesce(octet_length(evidence), 0) + coalesce(octet_length(sources::text), 0)

-- fragment: event_page_begins
-- What stands between this and event_page_ends gives events, newest first, at most $5.
select :event_columns, monitor_id, row_id, bytes_until from (
  select e.*, b.bytes, sum(b.bytes) over (order by tick_id desc, id desc rows unbounded preceding) as bytes_until
  from (

-- fragment: event_page_ends
-- $6 bytes
  ) e
  cross join lateral (select :event_bytes as bytes) b
) page
where bytes_until - bytes < $6
order by tick_id desc, id desc

-- fragment: event_is_behind
-- $2, $3 the last event of the page before; $4 types, or null
tick_id <= $2 and (tick_id, id) < ($2, $3::uuid) and ($4::int[] is null or event_type = any ($4))

-- name: event_list_monitor
-- Of monitor $1.
:event_page_begins
    select :event_columns, monitor_id, row_id
    from event
    where monitor_id = $1 and :event_is_behind
    order by tick_id desc, id desc
    limit $5
:event_page_ends

-- name: event_list_row
-- As event_list_monitor, of row $1.
:event_page_begins
    select :event_columns, monitor_id, row_id
    from event
    where row_id = $1 and :event_is_behind
    order by tick_id desc, id desc
    limit $5
:event_page_ends

-- name: event_list_org
-- As event_list_monitor, of all monitors of organisation $1 or, if given, of its team $7.
:event_page_begins
    select :event_columns, monitor_id, row_id
    from event
    where org_id = $1 and :event_is_behind
      and ($7::uuid is null or exists (select from monitor m where m.id = event.monitor_id and m.team_id = $7))
    order by tick_id desc, id desc
    limit $5
:event_page_ends

-- name: event_list_every
-- As event_list_monitor, of every organisation, in ticks after $1: each one's newest by its index, and of these the newest.
:event_page_begins
    select newest.*
    from organisation o
    cross join lateral (
      select :event_columns, monitor_id, row_id
      from event
      where org_id = o.id and tick_id > $1 and :event_is_behind
      order by tick_id desc, id desc
      limit $5
    ) newest
    order by newest.tick_id desc, newest.id desc
    limit $5
:event_page_ends

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

-- fragment: tick_columns
tick_id, trigger, due_at, started_at, finished_at, slots, row_count, outcomes, counts
