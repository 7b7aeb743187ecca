-- name: chunk_walk
-- The organisations that have chunks, from behind $1 on, at most $2, each with the rows of its first due chunk.
with recursive walk(org_id, n) as (
  (select org_id, 1 from chunk where org_id > $1 order by org_id limit 1)
  union all
  select (select c.org_id from chunk c where c.org_id > w.org_id order by c.org_id limit 1), w.n + 1
  from walk w
  where w.org_id is not null and w.n < $2
)
select w.org_id, c.row_count, c.monitor_id
from walk w
left join lateral (select row_count, monitor_id from chunk
                   where org_id = w.org_id and available_at <= now() order by available_at limit 1) c on true
where w.org_id is not null
order by w.org_id

-- fragment: chunk_columns
-- Of a chunk c. Its month is this one until the first reservation fixes it.
c.id, c.org_id, c.team_id, c.tier, c.monitor_id is not null, c.claims, c.due_at, c.reserved_mc, c.price_mc,
  coalesce(c.month, date_trunc('month', now() at time zone 'UTC')::date), c.monitor_ids, c.tick_ids, c.firsts, c.ends

-- name: chunk_claim
-- $1 organisations, $2 chunks and $3 rows of each (the chunk that reaches them included), $4 token, $5 lease in ms;
-- from the $6-th claim on that of a chunk of one row is not counted: chunk_count does that before the row starts.
with due as materialized (
  select s.org_id, s.rows_max, c.id, c.row_count, c.available_at, c.row_count > 1 or c.claims + 1 < $6 as counted
  from unnest($1::uuid[], $2::int[], $3::int[]) as s(org_id, chunks_max, rows_max)
  cross join lateral (
    select id, row_count, available_at, claims from chunk
    where org_id = s.org_id and available_at <= now()
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
set available_at = now() + $5 * interval '1 millisecond', lease_token = $4,
    claims = c.claims + case when p.counted then 1 else 0 end
from picked p
where c.id = p.id
returning :chunk_columns, now(), p.counted,
  -- Asked once a chunk, not once for each of its monitors.
  (select o.monitors_run from organisation o where o.id = c.org_id)

-- fragment: spec_columns
m.id, m.org_id, m.tier,
  case when former.counts then (m.former ->> 'subject_type')::smallint else m.subject_type end,
  m.status = :status_active,
  -- A tick goes by what its monitor said when it began.
  case when former.counts then (m.former ->> 'struct')::json else m.struct end,
  case when former.counts then (m.former ->> 'struct_version')::int else m.struct_version end,
  m.field_versions, m.research_plan, m.confirm_after, m.missing_confirmations, s.frequency_s,
  m.webhook_url, m.webhook_event_types, m.endpoint_id, coalesce(e.available_at > now(), false),
  case when m.webhook_url is not null then m.metadata end, m.rules, m.request_headers, m.request_headers_key_id,
  s.open_tick_id, s.open_due_at, s.open_started_at, s.open_slots, s.open_trigger

-- fragment: spec_of_monitor
-- What spec_columns are read from, beside monitor m.
join monitor_sched s on s.monitor_id = m.id
left join endpoint e on e.id = m.endpoint_id
cross join lateral (select coalesce(s.open_tick_id <= m.former_tick_id, false) as counts) former

-- fragment: checked_row_columns
r.id, r.is_active, r.subject, r.context, r.baseline, r.known, r.pending, r.struct_version

-- fragment: checked_state_columns
t.last_tick_id, t.outcome, t.last_run_at

-- name: one_row_parts
-- What the statements around this one tell, of parts of one row each, which is what small monitors have: they pay for
-- every statement themselves. $1 monitors, $2 positions.
select p.n, r.position, :checked_row_columns, :checked_state_columns, :spec_columns
from unnest($1::uuid[], $2::int[]) with ordinality as p(monitor_id, position, n)
join monitor_row r on r.monitor_id = p.monitor_id and r.position = p.position
join row_state t on t.monitor_id = p.monitor_id and t.position = p.position
join monitor m on m.id = p.monitor_id
:spec_of_monitor

-- name: rows_of_parts
-- $1 monitors, $2 first positions, $3 ends; n counts the parts from 1.
select p.n, r.position, :checked_row_columns
from unnest($1::uuid[], $2::int[], $3::int[]) with ordinality as p(monitor_id, first, ending, n)
join monitor_row r on r.monitor_id = p.monitor_id and r.position >= p.first and r.position < p.ending

-- name: states_of_parts
select p.n, t.position, :checked_state_columns
from unnest($1::uuid[], $2::int[], $3::int[]) with ordinality as p(monitor_id, first, ending, n)
join row_state t on t.monitor_id = p.monitor_id and t.position >= p.first and t.position < p.ending

-- name: chunk_reserve
-- Adds to the reservation; price and month are fixed at the first one.
update chunk c
set reserved_mc = c.reserved_mc + u.amount_mc, price_mc = u.price_mc, month = u.month
from unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::date[]) as u(id, amount_mc, price_mc, month)
where c.id = u.id

-- name: chunk_renew
update chunk c set available_at = now() + $3 * interval '1 millisecond'
from unnest($1::uuid[], $2::uuid[]) as u(id, token)
where c.id = u.id and c.lease_token = u.token
returning c.id

-- name: chunk_release
-- It had its turn already: it comes before all that waits.
update chunk c set available_at = now() - $3 * interval '1 second', lease_token = null, claims = greatest(c.claims - 1, 0)
from unnest($1::uuid[], $2::uuid[]) as u(id, token)
where c.id = u.id and c.lease_token = u.token

-- name: control_monitors
-- Monitors, and rows of monitors (position not null), whose switches changed within $1 ms.
select m.id, null::int, m.status = :status_active from monitor m
where m.control_changed_at > now() - $1 * interval '1 millisecond'
union all
select s.monitor_id, s.position, s.is_active from row_switch s
where s.switched_at > now() - $1 * interval '1 millisecond'

-- name: control_organisations
select o.id, o.monitors_run from organisation o
where o.control_changed_at > now() - $1 * interval '1 millisecond'

-- name: chunk_turns
-- The first turn among each organisation's due chunks, null without any.
select o.id, (select available_at from chunk
              where org_id = o.id and available_at <= now() order by available_at limit 1), now()
from unnest($1::uuid[]) as o(id)

-- name: chunk_insert
-- Arrays of arrays do not exist with different lengths: $7 to $10 are each chunk's array in text form.
insert into chunk (id, org_id, team_id, tier, available_at, monitor_id, monitor_ids, tick_ids, firsts, ends,
                   due_at, row_count)
select u.id, u.org_id, u.team_id, u.tier, u.turn, u.monitor_id, u.monitor_ids::uuid[], u.tick_ids::bigint[],
       u.firsts::int[], u.ends::int[], u.due_at, u.row_count
from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::smallint[], $5::uuid[], $6::timestamptz[], $7::text[],
            $8::text[], $9::text[], $10::text[], $11::int[], $12::timestamptz[])
  as u(id, org_id, team_id, tier, monitor_id, due_at, monitor_ids, tick_ids, firsts, ends, row_count, turn)

-- name: chunk_count
-- Counts a claim that chunk_claim did not count ($3 is 1, else 0), and raises the count to $4 at least.
update chunk set claims = greatest(claims + $3, $4) where id = $1 and lease_token = $2
returning id
