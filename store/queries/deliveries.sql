-- fragment: are_pending
in (:delivery_pending, :delivery_pending_of_channel)

-- fragment: are_dead
in (:delivery_dead, :delivery_dead_of_channel)

-- fragment: delivery_state
-- The state of a delivery d as everybody but the table calls it.
case when d.channel_id is null then d.state else d.state - :delivery_pending_of_channel end

-- fragment: of_channel
-- What is added to the state of a delivery d for the table.
case when d.channel_id is null then 0 else :delivery_pending_of_channel end

-- name: delivery_scan
-- At most @endpoints_max endpoints that have pending deliveries, those behind @cursor; n counts them. One that
-- maintenance has forgotten counts as available: its deliveries move to their monitor's present one when they are
-- claimed.
with recursive scan(endpoint_id, first_at, n) as (
  (select endpoint_id, available_at, 1 from delivery where state :are_pending and endpoint_id > @cursor
   order by endpoint_id, available_at limit 1)
  union all
  select next.endpoint_id, next.available_at, w.n + 1
  from scan w
  cross join lateral (select d.endpoint_id, d.available_at from delivery d
                      where d.state :are_pending and d.endpoint_id > w.endpoint_id
                      order by d.endpoint_id, d.available_at limit 1) next
  where w.n < @endpoints_max
)
select w.endpoint_id, coalesce(e.available_at <= now(), true) and w.first_at <= now() as due,
       coalesce(e.failures, 0) as failures,
       coalesce(e.org_id, (select d.org_id from delivery d where d.state :are_pending
                                  and d.endpoint_id = w.endpoint_id limit 1)) as org_id,
       case when w.first_at <= now() then w.first_at end as first_at, now()
from scan w left join endpoint e on e.id = w.endpoint_id
order by w.endpoint_id

-- name: delivery_scan_bounds
-- The scan of delivery_scan beside a snapshot (store/scan_bounds.h): all endpoints in their order, whether they have
-- pending deliveries or not, and of those in @endpoint_ids only what became available at @from_at or later. The place of
-- each is looked for in the array: a join compares every endpoint with every one of them, five times as long for a hundred.
select e.id as endpoint_id, e.available_at <= now() and first.available_at is not null as due, e.failures, e.org_id,
       first.available_at as first_at, now()
from (select id, available_at, failures, org_id, array_position(@endpoint_ids::uuid[], id) as n
      from endpoint where id > @cursor order by id limit @endpoints_max) e
left join lateral (select d.available_at from delivery d
                   where d.state :are_pending and d.endpoint_id = e.id and d.available_at <= now()
                     and d.available_at >= coalesce((@from_at::timestamptz[])[e.n], '-infinity')
                   order by d.available_at limit 1) first on true
order by e.id

-- name: delivery_claim
-- The oldest due ones, of each endpoint from @from_at on (null: from the beginning). They are updated at their places,
-- which their locks keep: a second look at the index would cost a sixth of the claim.
with picked as materialized (
  select d.place
  from unnest(@endpoint_id::uuid[], @deliveries_max::int[], @from_at::timestamptz[])
    as s(endpoint_id, deliveries_max, from_at)
  cross join lateral (
    select ctid as place from delivery
    where state :are_pending and endpoint_id = s.endpoint_id and available_at <= now()
      and available_at >= coalesce(s.from_at, '-infinity')
    order by available_at
    limit s.deliveries_max
    for update skip locked
  ) d
)
update delivery d
set available_at = now() + @lease_ms * interval '1 millisecond', lease_token = @token
where d.ctid = any (array(select place from picked))
returning d.id, d.org_id, d.endpoint_id, d.monitor_id, d.row_id, d.job_id, d.block, d.job_status, d.event_group_id,
          d.type, d.created_at, d.attempts, d.replayed_at, d.replayed_attempts, d.channel_id, d.recipient_id

-- fragment: target_columns
-- The place where a monitor's notifications go.
id, webhook_url, endpoint_id, metadata

-- name: delivery_targets
select :target_columns from monitor where id = any(@monitor_ids::uuid[])

-- name: delivery_targets_of_jobs
-- The place of each job, or of a block of it.
select u.job_id, u.block, coalesce(j.webhook_url, b.webhook_url) as webhook_url,
       coalesce(j.endpoint_id, b.endpoint_id) as endpoint_id
from unnest(@job_id::uuid[], @block::smallint[]) as u(job_id, block)
join job j on j.id = u.job_id
left join job_block b on b.job_id = u.job_id and b.block = u.block

-- name: delivery_targets_of_channels
select id, coalesce(url, shown_url) as webhook_url, endpoint_id from channel where id = any(@channel_ids::uuid[])

-- name: delivery_die
update delivery d set state = :delivery_dead + :of_channel, lease_token = null, last_error = @last_error
where d.id = any(@ids::uuid[])

-- name: delivery_move
update delivery d set endpoint_id = u.endpoint_id, available_at = now(), lease_token = null
from unnest(@id::uuid[], @endpoint_id::uuid[]) as u(id, endpoint_id)
where d.id = any (array[u.id])

-- name: delivery_settle_delivered
delete from delivery d
using unnest(@id::uuid[], @token::uuid[]) as u(id, token)
where d.id = any (array[u.id]) and d.lease_token = u.token

-- name: delivery_settle_failed
update delivery d
set state = u.state + :of_channel, attempts = u.attempts, lease_token = null, last_error = u.error,
    available_at = now() + u.retry_ms * interval '1 millisecond'
from unnest(@id::uuid[], @token::uuid[], @state::smallint[], @attempts::int[], @error::text[], @retry_ms::bigint[])
  as u(id, token, state, attempts, error, retry_ms)
where d.id = any (array[u.id]) and d.lease_token = u.token

-- name: attempts_recorded
-- Which of them are in history: their places in the arrays, from 0.
select u.n - 1
from unnest(@id::uuid[], @attempted_at::timestamptz[]) with ordinality as u(id, attempted_at, n)
where exists (select from delivery_attempt a where a.delivery_id = u.id and a.attempted_at = u.attempted_at)

-- name: attempt_insert
-- Arrays are taken apart, and times come, as in record.sql.
insert into delivery_attempt (delivery_id, attempt, org_id, monitor_id, row_id, job_id, block, job_status,
                              event_group_id, type, created_at, attempted_at, delivered, status_code, error, answer,
                              duration_us, channel_id, recipient_id)
select unnest(@delivery_id::uuid[]), unnest(@attempt::int[]), unnest(@org_id::uuid[]), unnest(@monitor_id::uuid[]),
       unnest(@row_id::uuid[]), unnest(@job_id::uuid[]), unnest(@block::smallint[]), unnest(@job_status::smallint[]),
       unnest(@event_group_id::uuid[]), unnest(@type::smallint[]),
       timestamptz 'epoch' + unnest(@created_at::bigint[]) * interval '1 microsecond',
       timestamptz 'epoch' + unnest(@attempted_at::bigint[]) * interval '1 microsecond',
       unnest(@delivered::boolean[]), unnest(@status_code::int[]), unnest(@error::text[]), unnest(@answer::bytea[]),
       unnest(@duration_us::bigint[]), unnest(@channel_id::uuid[]), unnest(@recipient_id::uuid[])

-- name: delivery_renew
update delivery d set available_at = now() + @lease_ms * interval '1 millisecond'
from unnest(@id::uuid[], @token::uuid[]) as u(id, token)
where d.id = any (array[u.id]) and d.lease_token = u.token
returning d.id

-- name: delivery_release
update delivery d set available_at = now(), lease_token = null
from unnest(@id::uuid[], @token::uuid[]) as u(id, token)
where d.id = any (array[u.id]) and d.lease_token = u.token
