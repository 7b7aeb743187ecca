-- name: usage_charges
-- What charges of [@since, @until) come to, by day, kind and caller as asked for; bookings are none. The kind and the
-- caller of a job are known as long as the job is.
select s.day, s.of_checks, s.kind, s.caller_kind, s.caller_id, coalesce(k.name, c.name) as caller_name, s.charged_mc,
       s.checks, s.jobs
from (
  select case when @by_day::boolean then date_trunc('day', e.created_at) end as day,
         case when @by_kind::boolean then e.tier is not null end as of_checks,
         case when @by_kind then j.kind end as kind,
         case when @by_key::boolean then j.caller_kind end as caller_kind,
         case when @by_key then j.caller_id end as caller_id,
         coalesce(sum(-e.amount_mc), 0)::bigint as charged_mc,
         coalesce(sum(e.checks) filter (where e.tier is not null), 0)::bigint as checks,
         count(distinct e.job_id) as jobs
  from credit_entry e
  left join job j on j.id = e.job_id
  where e.org_id = @org_id and e.created_at >= @since and e.created_at < @until and e.checks is not null
    and (e.job_id is not null or not @jobs_only::boolean)
  group by 1, 2, 3, 4, 5
) s
left join api_key k on s.caller_kind = :principal_api_key and k.id = s.caller_id and k.org_id = @org_id
left join oauth_client c on s.caller_kind = :principal_oauth_client and c.id = s.caller_id and c.org_id = @org_id
order by s.day, s.of_checks desc, s.kind, s.caller_kind, s.caller_id
limit @limit

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
