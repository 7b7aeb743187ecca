-- name: ledger_settled
-- $1 the end that is asked for, or null
select least($1::timestamptz, now() - interval '2 minutes')

-- name: ledger_opening
-- $1 organisation; $2 team or null; $3 the first moment that is not summed
select coalesce(sum(amount_mc), 0)::bigint
from credit_entry
where org_id = $1 and ($2::uuid is null or team_id = $2) and created_at < $3

-- name: ledger_entries
-- $1 organisation; $2 team or null; $3 since; $4 until; $5 the number of the line before; $6 limit. The kind of a job is known
-- as long as the job is.
select e.id, e.created_at, e.checks is null as booked, e.amount_mc, coalesce(e.checks, 0) as units, e.tier, j.kind, e.team_id,
       e.job_id, e.reason
from credit_entry e
left join job j on j.id = e.job_id
where e.org_id = $1 and ($2::uuid is null or e.team_id = $2) and e.id > $5 and e.created_at >= $3 and e.created_at < $4
order by e.id
limit $6

-- name: ledger_days
-- $1 organisation; $2 team or null; $3 since; $4 until; $5 limit
select null::bigint as id, date_trunc('day', e.created_at) as day, e.checks is null as booked, sum(e.amount_mc)::bigint,
       coalesce(sum(e.checks), 0)::bigint as units, e.tier, j.kind, null::uuid as team_id, null::uuid as job_id, null::text as reason
from credit_entry e
left join job j on j.id = e.job_id
where e.org_id = $1 and ($2::uuid is null or e.team_id = $2) and e.created_at >= $3 and e.created_at < $4
group by day, booked, e.tier, j.kind
order by day, booked desc, e.tier nulls last, j.kind
limit $5

-- name: reservations
-- $1 organisation; $2 team or null; $3 limit of jobs. A row for each tier, one for each of the jobs that hold most, one for all
-- jobs together.
with jobs as (
  select id, kind, reserved_mc
  from job
  where org_id = $1 and ($2::uuid is null or team_id = $2) and finished_at is null and reserved_mc > 0
)
select c.tier, null::uuid as job_id, null::smallint as kind, sum(c.reserved_mc)::bigint as reserved_mc, count(*) as count
from chunk c
where c.org_id = $1 and ($2::uuid is null or c.team_id = $2) and c.reserved_mc > 0
group by c.tier
union all
(select null, id, kind, reserved_mc, 1 from jobs order by reserved_mc desc, id limit $3)
union all
select null, null, null, coalesce(sum(reserved_mc), 0)::bigint, count(*) from jobs
