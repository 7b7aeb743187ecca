-- Statements without a safety, for [testing] disable alone: the tests of the fleet must notice each.

-- name: record_lock_chunks_unfenced
-- Any token will do.
select c.id, c.reserved_mc, c.month, now()
from unnest($1::uuid[], $2::uuid[]) as u(id, token)
join chunk c on c.id = u.id
order by c.id
for update of c

-- name: record_row_states_unfenced
-- Rows that are recorded already are recorded again.
with written as (
  update row_state s
  set last_tick_id = r.tick_id,
      outcome = get_byte(r.outcomes, s.position - r.first),
      last_run_at = case when get_byte(r.outcomes, s.position - r.first) in (1, 2) then r.looked_until
                         else s.last_run_at end
  from unnest($1::uuid[], $2::bigint[], $3::int[], $4::bytea[], $5::timestamptz[])
    as r(monitor_id, tick_id, first, outcomes, looked_until)
  where s.monitor_id = r.monitor_id
    and s.position >= r.first and s.position < r.first + length(r.outcomes)
    and get_byte(r.outcomes, s.position - r.first) <> 0
  returning 1
)
select count(*) from written

-- name: accounts_reserve_nothing
select $1::uuid[], $2::bigint[]

-- name: chunk_renew_not
-- Every lease counts as held, and none is made longer.
select u.id, $3::bigint from unnest($1::uuid[], $2::uuid[]) as u(id, token)
