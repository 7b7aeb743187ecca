-- name: ledger_settled
-- @until is the end that is asked for, or null.
select least(@until::timestamptz, now() - interval '2 minutes')

-- name: ledger_opening
-- @since is the first moment that is not summed; @team_id may be null.
select coalesce(sum(amount_mc), 0)::bigint
from credit_entry
where org_id = @org_id and (@team_id::uuid is null or team_id = @team_id) and created_at < @since

-- name: ledger_entries
-- @entry is the number of the line before; @team_id may be null. The kind of a job is known
-- as long as the job is.
select e.id, e.created_at, e.checks is null as booked, e.amount_mc, coalesce(e.checks, 0) as units, e.tier, j.kind,
       e.team_id, e.job_id, e.reason
from credit_entry e
left join job j on j.id = e.job_id
where e.org_id = @org_id and (@team_id::uuid is null or e.team_id = @team_id) and e.id > @entry
  and e.created_at >= @since and e.created_at < @until
order by e.id
limit @limit

-- name: ledger_days
-- @team_id may be null.
select null::bigint as id, day as created_at, booked, amount_mc, units, tier, kind, null::uuid as team_id,
       null::uuid as job_id, null::text as reason
from (select date_trunc('day', e.created_at) as day, e.checks is null as booked, sum(e.amount_mc)::bigint as amount_mc,
             coalesce(sum(e.checks), 0)::bigint as units, e.tier, j.kind
      from credit_entry e
      left join job j on j.id = e.job_id
      where e.org_id = @org_id and (@team_id::uuid is null or e.team_id = @team_id) and e.created_at >= @since
        and e.created_at < @until
      group by day, booked, e.tier, j.kind) sums
order by day, booked desc, tier nulls last, kind
limit @limit

-- name: reservations
-- @team_id may be null. A row for each tier, one for each of the jobs that hold most, one for all
-- jobs together.
with jobs as (
  select id, kind, reserved_mc
  from job
  where org_id = @org_id and (@team_id::uuid is null or team_id = @team_id) and finished_at is null and reserved_mc > 0
)
select c.tier, null::uuid as job_id, null::smallint as kind, sum(c.reserved_mc)::bigint as reserved_mc,
       count(*) as count
from chunk c
where c.org_id = @org_id and (@team_id::uuid is null or c.team_id = @team_id) and c.reserved_mc > 0
group by c.tier
union all
(select null, id, kind, reserved_mc, 1 from jobs order by reserved_mc desc, id limit @jobs_max)
union all
select null, null, null, coalesce(sum(reserved_mc), 0)::bigint, count(*) from jobs
