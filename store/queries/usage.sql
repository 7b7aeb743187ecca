-- name: usage_charges
-- What charges of [@since, @until) come to, by day, kind and caller as asked for, and before these all of them together
-- (is_total); bookings are none. The kind and the caller of a job are known as long as the job is. The ledger is read
-- once: a large organisation has 20,000 lines a day, nearly all of checks, which are first summed by day.
with charged as (
  select case when @by_day::boolean then date_trunc('day', created_at) end as day, job_id,
         sum(-amount_mc) as charged_mc, sum(checks) as checks
  from credit_entry
  where org_id = @org_id and created_at >= @since and created_at < @until and checks is not null
  group by 1, 2
)
select s.is_total, s.day, s.of_checks, s.kind, s.caller_kind, s.caller_id, coalesce(k.name, c.name) as caller_name,
       s.charged_mc, s.checks, s.jobs
from (
  select false as is_total, e.day,
         case when @by_kind::boolean then e.job_id is null end as of_checks,
         case when @by_kind then j.kind end as kind,
         case when @by_key::boolean then j.caller_kind end as caller_kind,
         case when @by_key then j.caller_id end as caller_id,
         sum(e.charged_mc)::bigint as charged_mc,
         coalesce(sum(e.checks) filter (where e.job_id is null), 0)::bigint as checks,
         count(distinct e.job_id) as jobs
  from charged e
  left join job j on j.id = e.job_id
  where e.job_id is not null or not @jobs_only::boolean
  group by 2, 3, 4, 5, 6
  union all
  select true, null, null, null, null, null, coalesce(sum(charged_mc), 0)::bigint,
         coalesce(sum(checks) filter (where job_id is null), 0)::bigint, count(distinct job_id)
  from charged
) s
left join api_key k on s.caller_kind = :principal_api_key and k.id = s.caller_id and k.org_id = @org_id
left join oauth_client c on s.caller_kind = :principal_oauth_client and c.id = s.caller_id and c.org_id = @org_id
order by s.is_total desc, s.day, s.of_checks desc, s.kind, s.caller_kind, s.caller_id
limit @limit + 1

-- name: usage_ticks
-- Ended ticks of the organisation's monitors, by monitor and tick, behind the tick @tick_id of @monitor_id.
select m.id as monitor_id, m.name, m.tier, t.tick_id, t.outcomes, t.counts
from (select id, name, tier from monitor where org_id = @org_id and id >= @monitor_id order by id) m
cross join lateral (
  select tick_id, outcomes, counts
  from tick
  where monitor_id = m.id and tick_id >= @since_id and tick_id < @until_id and finished_at is not null
    and (m.id > @monitor_id or tick_id > @tick_id)
  order by tick_id
  limit @limit
) t
order by m.id, t.tick_id
limit @limit
