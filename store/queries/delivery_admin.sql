-- name: delivery_admin_list
-- $1 state or null; $2 organisation; $3 monitor; $4 the last id of the page before; $5 limit
select d.id, d.state, d.type, d.org_id, d.monitor_id, d.row_id, d.event_group_id, d.attempts, d.last_error,
  d.created_at,
  case when d.state = 0 and d.lease_token is null then greatest(d.available_at, e.available_at) end
    as next_attempt_at
from delivery d
left join endpoint e on e.id = d.endpoint_id
where ($1::smallint is null or d.state = $1)
  and ($2::uuid is null or d.org_id = $2)
  and ($3::uuid is null or d.monitor_id = $3)
  and ($4::uuid is null or d.id < $4)
order by d.id desc
limit $5

-- name: delivery_admin_list_delivered
-- $1 organisation; $2 monitor; $3 the last id of the page before; $4 limit
select delivery_id as id, 2 as state, type, org_id, monitor_id, row_id, event_group_id, attempt as attempts,
  null::text as last_error, created_at, null::timestamptz as next_attempt_at
from delivery_attempt
where delivered
  and ($1::uuid is null or org_id = $1)
  and ($2::uuid is null or monitor_id = $2)
  and ($3::uuid is null or delivery_id < $3)
order by delivery_id desc
limit $4

-- name: delivery_admin_read
select d.id, d.state, d.type, d.org_id, d.monitor_id, d.row_id, d.event_group_id, d.attempts, d.last_error,
  d.created_at,
  case when d.state = 0 and d.lease_token is null then greatest(d.available_at, e.available_at) end
    as next_attempt_at
from delivery d
left join endpoint e on e.id = d.endpoint_id
where d.id = $1

-- name: delivery_admin_read_delivered
select delivery_id as id, 2 as state, type, org_id, monitor_id, row_id, event_group_id, attempt as attempts,
  null::text as last_error, created_at, null::timestamptz as next_attempt_at
from delivery_attempt
where delivery_id = $1 and delivered
limit 1

-- name: delivery_admin_attempts
select attempt, attempted_at, delivered, status_code, error, answer, duration_us
from delivery_attempt
where delivery_id = $1
order by attempt desc
limit $2

-- name: delivery_admin_lock
select state from delivery where id = $1 for update

-- name: delivery_admin_was_delivered
select from delivery_attempt where delivery_id = $1 and delivered limit 1

-- name: delivery_admin_replay
-- The monitor's receiver may be another one by now.
update delivery d
set state = 0, available_at = now(), replayed_at = now(), replayed_attempts = attempts, lease_token = null,
    endpoint_id = coalesce((select m.endpoint_id from monitor m where m.id = d.monitor_id), d.endpoint_id)
where d.id = any ($1::uuid[]) and d.state = 1
returning d.id, d.org_id

-- name: delivery_admin_dead_batch
-- $1 organisation; $2 monitor; $3 since; $4 until; $5 the last id of the batch before; $6 limit
select id
from delivery
where state = 1
  and ($1::uuid is null or org_id = $1)
  and ($2::uuid is null or monitor_id = $2)
  and ($3::timestamptz is null or created_at >= $3)
  and ($4::timestamptz is null or created_at < $4)
  and ($5::uuid is null or id > $5)
order by id
limit $6
for update
