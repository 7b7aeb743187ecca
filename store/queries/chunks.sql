-- name: chunk_scan
-- At most @orgs_max organisations that have chunks, those behind @cursor, each with the rows of its first due chunk.
with recursive scan(org_id, n) as (
  (select org_id, 1 from chunk where org_id > @cursor order by org_id limit 1)
  union all
  select (select c.org_id from chunk c where c.org_id > w.org_id order by c.org_id limit 1), w.n + 1
  from scan w
  where w.org_id is not null and w.n < @orgs_max
)
select w.org_id, c.row_count, c.monitor_id, c.available_at as first_at, now()
from scan w
left join lateral (select row_count, monitor_id, available_at from chunk
                   where org_id = w.org_id and available_at <= now() order by available_at limit 1) c on true
where w.org_id is not null
order by w.org_id

-- name: chunk_scan_bounds
-- The scan of chunk_scan beside a snapshot (store/scan_bounds.h): all organisations in their order, whether they have
-- chunks or not. What waits in turn and what somebody's lease has ended of are far from each other in time (@apart_s):
-- of those in @org_ids the first begin at @turns_from, the second, which are looked at where there are none of the first,
-- at @ends_from.
select o.id as org_id, coalesce(t.row_count, e.row_count) as row_count,
       case when t.row_count is null then e.monitor_id else t.monitor_id end as monitor_id,
       coalesce(t.available_at, e.available_at) as first_at, now()
from (select id, array_position(@org_ids::uuid[], id) as n
      from organisation where id > @cursor order by id limit @orgs_max) o
left join lateral (select row_count, monitor_id, available_at from chunk
                   where org_id = o.id and available_at <= now() - @apart_s * interval '1 second'
                     and available_at >= coalesce((@turns_from::timestamptz[])[o.n], '-infinity')
                   order by available_at limit 1) t on true
left join lateral (select row_count, monitor_id, available_at from chunk
                   where t.row_count is null and org_id = o.id and available_at <= now()
                     and available_at >= greatest((@ends_from::timestamptz[])[o.n], now() - @apart_s * interval '1 second')
                   order by available_at limit 1) e on true
order by o.id

-- fragment: chunk_columns
-- The columns of a chunk c. Its month is this one until the first reservation fixes it.
c.id, c.org_id, c.team_id, c.tier, c.monitor_id is not null as large, c.claims, c.due_at, c.reserved_mc, c.price_mc,
  coalesce(c.month, date_trunc('month', now() at time zone 'UTC')::date) as month, c.monitor_ids, c.tick_ids, c.firsts,
  c.ends

-- fragment: held_columns
-- What a chunk c says of the ticks that it holds; a start without any.
c.started_at, c.due_us, c.slots, c.longest_s, c.check_ms, c.failing

-- name: chunk_claim
-- A chunk that reaches @rows_max is taken with the others. From claim number @careful_from on, that of a chunk of one
-- row is not counted: chunk_count does that before the row starts. Of each organisation those are left that became
-- available before @from_at (null: none are), and with @turns_only those that do not wait in turn (chunk_scan_bounds).
with due as materialized (
  select s.org_id, s.rows_max, c.id, c.row_count, c.available_at,
         c.row_count > 1 or c.claims + 1 < @careful_from as counted
  from unnest(@org_id::uuid[], @chunks_max::int[], @rows_max::int[], @from_at::timestamptz[], @turns_only::boolean[])
    as s(org_id, chunks_max, rows_max, from_at, turns_only)
  cross join lateral (
    select id, row_count, available_at, claims from chunk
    where org_id = s.org_id
      and available_at <= now() - case when s.turns_only then @apart_s else 0 end * interval '1 second'
      and available_at >= coalesce(s.from_at, '-infinity')
    order by available_at
    limit s.chunks_max
    for update skip locked
  ) c
),
picked as (
  select id, counted
  from (select id, counted, rows_max,
               sum(row_count) over (partition by org_id order by available_at, id) - row_count as before
        from due) d
  where before < rows_max
)
update chunk c
set available_at = now() + @lease_ms * interval '1 millisecond', lease_token = @token,
    claims = c.claims + case when p.counted then 1 else 0 end, holder = case when c.holder is not null then @token::uuid end
from picked p
where c.id = any (array[p.id])
returning :chunk_columns, case when c.holder is not null then c.longest_s end as longest_s,
  case when c.holder is not null then c.due_us end as due_us, coalesce(c.started_at, c.due_at) as starts_at,
  now(), p.counted,
  -- Asked once a chunk, not once for each of its monitors.
  (select o.monitors_run from organisation o where o.id = c.org_id)

-- fragment: spec_columns
-- Types of events without a receiver are nobody's.
m.tier,
  case when former.counts then (m.former ->> 'subject_type')::smallint else m.subject_type end,
  m.status = :status_active as monitor_active,
  -- A tick goes by what its monitor said when it began.
  case when former.counts then (m.former ->> 'struct')::json else m.struct end,
  case when former.counts then (m.former ->> 'struct_version')::int else m.struct_version end,
  m.field_versions, m.research_plan, m.confirm_after, m.missing_confirmations, m.webhook_url,
  case when m.webhook_url is not null then m.webhook_event_types end as webhook_event_types, m.endpoint_id,
  -- Nothing is looked for where there is no receiver, as most small monitors have none.
  case when m.endpoint_id is null then false
       else coalesce((select e.available_at > now() from endpoint e where e.id = m.endpoint_id), false) end
    as endpoint_open,
  case when m.webhook_url is not null then m.metadata end as metadata, m.rules, m.request_headers,
  m.request_headers_key_id, m.channel_ids, m.probe

-- fragment: spec_of_monitor
-- What spec_columns are read from, beside monitor m and the tick p.
cross join lateral (select coalesce(p.tick_id <= m.former_tick_id, false) as counts) former

-- fragment: open_tick_columns
-- What the schedule s says of the open tick, where no chunk holds it.
coalesce((s.schedule ->> 'longest_s')::bigint, s.frequency_s) as frequency_s, s.open_tick_id, s.open_due_at,
  s.open_started_at, s.open_slots, s.open_trigger

-- fragment: checked_row_columns
r.id, r.is_active, r.subject, r.context, r.baseline, r.known, r.pending, r.struct_version

-- fragment: checked_state_columns
-- The state of the row at p.position, in the block b.
:state_tick_id as last_tick_id, :state_outcome as outcome, :state_last_run_at as last_run_at

-- fragment: parts_of_one_row
-- n counts the parts from 1. Arrays are taken apart as in record.sql.
(select unnest(@monitor_id::uuid[]) as monitor_id, unnest(@position::int[]) as position,
        unnest(@tick_id::bigint[]) as tick_id, generate_series(1, cardinality(@monitor_id::uuid[])) as n) p

-- name: one_row_parts
-- What the statements around this one tell, of parts of one row each, which is what small monitors have: they pay for
-- every statement themselves.
select p.n, r.position, :checked_row_columns, :checked_state_columns, :spec_columns, :open_tick_columns
from :parts_of_one_row
join monitor_row r on r.monitor_id = p.monitor_id and r.position = p.position
join state_block b on b.monitor_id = p.monitor_id and b.block = p.position / :block_rows
join monitor m on m.id = p.monitor_id
join monitor_sched s on s.monitor_id = p.monitor_id
:spec_of_monitor

-- name: held_row_parts
-- The same of ticks that their chunk holds: it says what the schedule would.
select p.n, r.position, :checked_row_columns, :checked_state_columns, :spec_columns
from :parts_of_one_row
join monitor_row r on r.monitor_id = p.monitor_id and r.position = p.position
join state_block b on b.monitor_id = p.monitor_id and b.block = p.position / :block_rows
join monitor m on m.id = p.monitor_id
:spec_of_monitor

-- name: rows_of_parts
-- n counts the parts from 1.
select p.n, r.position, :checked_row_columns
from unnest(@monitor_id::uuid[], @first::int[], @ending::int[]) with ordinality as p(monitor_id, first, ending, n)
join monitor_row r on r.monitor_id = p.monitor_id and r.position >= p.first and r.position < p.ending

-- name: chunk_reserve
-- Adds to the reservation; price and month are fixed at the first one.
update chunk c
set reserved_mc = c.reserved_mc + u.amount_mc, price_mc = u.price_mc, month = u.month
from unnest(@id::uuid[], @amount_mc::bigint[], @price_mc::bigint[], @month::date[]) as u(id, amount_mc, price_mc, month)
where c.id = any (array[u.id])

-- name: chunk_renew
update chunk c set available_at = now() + @lease_ms * interval '1 millisecond'
from unnest(@id::uuid[], @token::uuid[]) as u(id, token)
where c.id = any (array[u.id]) and c.lease_token = u.token
returning c.id

-- name: chunk_release
-- It had its turn already: it comes before all that waits.
update chunk c set available_at = now() - @turn_back_s * interval '1 second', lease_token = null,
  claims = greatest(c.claims - 1, 0)
from unnest(@id::uuid[], @token::uuid[]) as u(id, token)
where c.id = any (array[u.id]) and c.lease_token = u.token

-- name: control_since
-- The begin of the oldest transaction that is open: what changed in one that this read does not see carries a time of then or
-- later. Those of this database's user are seen, and those of processes are what pauses; a backup's is none of them.
select least(now(), min(xact_start)) as oldest from pg_stat_activity
where datname = current_database() and application_name like 'vedette %'

-- fragment: control_since
-- The time from which changes of control are read.
least(coalesce(@since, now() - interval '1 hour'), now() - @window_ms * interval '1 millisecond')

-- name: control_monitors
-- Monitors, and rows of monitors (position not null), whose switches changed within @window_ms and since @since (null: within an hour).
select m.id, null::int as position, m.status = :status_active as is_on from monitor m
where m.control_changed_at >= :control_since
union all
select s.monitor_id, s.position, s.is_active from row_switch s
where s.switched_at >= :control_since

-- name: control_organisations
select o.id, o.monitors_run from organisation o
where o.control_changed_at >= :control_since

-- name: chunk_turns
-- The first turn among the chunks of each organisation that are due since @apart_s, from @from_at on (null: from the
-- beginning), null without any; and those of @chunk_ids that are there.
select o.id, (select available_at from chunk
              where org_id = o.id and available_at <= now() - @apart_s * interval '1 second'
                and available_at >= coalesce(o.from_at, '-infinity')
              order by available_at limit 1), now(), false as is_chunk
from unnest(@org_ids::uuid[], @from_at::timestamptz[]) as o(id, from_at)
union all
select c.id, null, now(), true from chunk c where c.id = any(@chunk_ids::uuid[])

-- name: chunk_insert
-- @monitor_ids, @tick_ids, @firsts and @ends have the parts of all chunks, one chunk's behind the other's: arrays of
-- arrays do not exist with different lengths, and a text for each chunk would be written and read part by part.
-- A chunk with a @started_at holds its ticks.
insert into chunk (id, org_id, team_id, tier, available_at, monitor_id, monitor_ids, tick_ids, firsts, ends,
                   due_at, row_count, started_at, holder, due_us, slots, longest_s, check_ms, failing)
select u.id, u.org_id, u.team_id, u.tier, u.turn, u.monitor_id,
       (@monitor_ids::uuid[])[u.part_from : u.part_until], (@tick_ids::bigint[])[u.part_from : u.part_until],
       (@firsts::int[])[u.part_from : u.part_until], (@ends::int[])[u.part_from : u.part_until], u.due_at, u.row_count,
       u.started_at, case when u.holds then '00000000-0000-0000-0000-000000000000'::uuid end,
       case when u.holds then (@due_us::bigint[])[u.part_from : u.part_until] end,
       case when u.holds then (@slots::int[])[u.part_from : u.part_until] end,
       case when u.holds then (@longest_s::bigint[])[u.part_from : u.part_until] end,
       case when u.holds then (@check_ms::int[])[u.part_from : u.part_until] end,
       case when u.holds then (@failing::smallint[])[u.part_from : u.part_until] end
from (select *, started_at is not null as holds
      from unnest(@id::uuid[], @org_id::uuid[], @team_id::uuid[], @tier::smallint[], @monitor_id::uuid[],
                  @due_at::timestamptz[], @row_count::int[], @turn::timestamptz[], @part_from::int[],
                  @part_until::int[], @started_at::timestamptz[])
        as p(id, org_id, team_id, tier, monitor_id, due_at, row_count, turn, part_from, part_until, started_at)) u

-- name: chunk_count
-- Counts a claim that chunk_claim did not count (@uncounted is 1, else 0), and raises the count to @floor at least.
update chunk set claims = greatest(claims + @uncounted, @floor) where id = @id and lease_token = @token
returning id
