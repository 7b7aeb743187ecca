-- fragment: event_columns
id, event_type, event_group_id, tick_id, field, previous_value, current_value, message, evidence, sources, confidence,
  created_at, previous_snapshot_id, snapshot_id

-- name: event_list
-- The rank within a check is `completion - type`: error before change. @after_rank and @after_field, if given: only
-- what comes behind this rank and field in tick @last.
select :event_columns, bytes_until from (
  select e.*, b.bytes,
         sum(b.bytes) over (order by tick_id desc, event_type desc, field collate "C" rows unbounded preceding)
           as bytes_until
  from (
    select :event_columns
    from event
    where row_id = @row_id and tick_id between @first and @last
      and (@after_rank::int is null or tick_id < @last or :event_completion - event_type > @after_rank
           or (:event_completion - event_type = @after_rank and field collate "C" > @after_field::text))
    order by tick_id desc, event_type desc, field collate "C"
    limit @limit
  ) e
  cross join lateral (select :event_bytes as bytes) b
) page
where bytes_until - bytes < @bytes_max
order by tick_id desc, event_type desc, field collate "C"

-- fragment: event_bytes
-- What an event adds to a page.
coalesce(octet_length(previous_value::text), 0) + coalesce(octet_length(current_value::text), 0)
  + coalesce(octet_length(message), 0) + coalesce(octet_length(evidence), 0) + coalesce(octet_length(sources::text), 0)

-- fragment: event_page_begins
-- What stands between this and event_page_ends gives events, newest first, at most @limit.
select :event_columns, monitor_id, row_id, bytes_until from (
  select e.*, b.bytes, sum(b.bytes) over (order by tick_id desc, id desc rows unbounded preceding) as bytes_until
  from (

-- fragment: event_page_ends
  ) e
  cross join lateral (select :event_bytes as bytes) b
) page
where bytes_until - bytes < @bytes_max
order by tick_id desc, id desc

-- fragment: event_is_behind
-- @after_tick_id and @after_id name the last event of the page before; @types may be null.
tick_id <= @after_tick_id and (tick_id, id) < (@after_tick_id, @after_id::uuid)
  and (@types::int[] is null or event_type = any (@types))

-- name: event_list_monitor
-- Events of a monitor.
:event_page_begins
    select :event_columns, monitor_id, row_id
    from event
    where monitor_id = @monitor_id and :event_is_behind
    order by tick_id desc, id desc
    limit @limit
:event_page_ends

-- name: event_list_row
-- The same as event_list_monitor, of a row.
:event_page_begins
    select :event_columns, monitor_id, row_id
    from event
    where row_id = @row_id and :event_is_behind
    order by tick_id desc, id desc
    limit @limit
:event_page_ends

-- name: event_list_org
-- The same as event_list_monitor, of all monitors of an organisation or, if @team_id is given, of its team.
:event_page_begins
    select :event_columns, monitor_id, row_id
    from event
    where org_id = @org_id and :event_is_behind
      and (@team_id::uuid is null or exists (select from monitor m where m.id = event.monitor_id
                                                    and m.team_id = @team_id))
    order by tick_id desc, id desc
    limit @limit
:event_page_ends

-- name: event_list_every
-- The same as event_list_monitor, of every organisation, in ticks after @since_tick_id: each one's newest by its index,
-- and of these the newest.
:event_page_begins
    select newest.*
    from organisation o
    cross join lateral (
      select :event_columns, monitor_id, row_id
      from event
      where org_id = o.id and tick_id > @since_tick_id and :event_is_behind
      order by tick_id desc, id desc
      limit @limit
    ) newest
    order by newest.tick_id desc, newest.id desc
    limit @limit
:event_page_ends

-- name: event_tick
select tick_id from event where row_id = @row_id and event_group_id = @event_group_id limit 1

-- name: outcome_list_ticks
-- `case`, because get_byte fails beyond the end.
select tick_id, get_byte(outcomes, @position::int) as outcome
from tick
where monitor_id = @monitor_id and tick_id between @first and @last and outcomes is not null
  and case when length(outcomes) > @position::int then get_byte(outcomes, @position::int) end = any (@outcomes::int[])
order by tick_id desc
limit @limit

-- name: outcome_list_log
select tick_id, get_byte(outcomes, @place::int - first) as outcome
from check_log
where monitor_id = @monitor_id and block = @block and tick_id between @first and @last
  and case when @place::int >= first and @place::int < first + length(outcomes)
           then get_byte(outcomes, @place::int - first) end = any (@outcomes::int[])
order by tick_id desc
limit @limit

-- name: outcome_last
select s.last_tick_id as tick_id, s.outcome
from :state_at
where s.last_tick_id between @first and @last and s.outcome = any (@outcomes::int[])

-- fragment: outcome_of_event
-- The outcome of the check that a stored event n is of, by keys alone; null where it is not kept any more. A tick that is
-- not recorded as a whole yet stands in the states of its rows.
select coalesce(
  (select get_byte(k.outcomes, p.position) from tick k
   where k.monitor_id = p.monitor_id and k.tick_id = n.tick_id and length(k.outcomes) > p.position),
  (select get_byte(l.outcomes, p.position % :block_rows - l.first) from check_log l
   where l.monitor_id = p.monitor_id and l.block = p.position / :block_rows and l.tick_id = n.tick_id
     and p.position % :block_rows >= l.first and p.position % :block_rows < l.first + length(l.outcomes)),
  (select s.outcome from (:state_of_row) s where s.last_tick_id = n.tick_id))
from monitor_row p where p.id = n.row_id

-- fragment: tick_columns
tick_id, trigger, due_at, started_at, finished_at, slots, row_count, outcomes, counts
