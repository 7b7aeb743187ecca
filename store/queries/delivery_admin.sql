-- fragment: delivery_view
-- What DeliveryView is read from: of a delivery d with its endpoint e, or of the attempt that delivered it.
d.id, d.state, d.type, d.org_id, d.monitor_id, d.row_id, d.job_id, d.event_group_id, d.attempts,
  case when d.state = :delivery_pending and d.lease_token is null then greatest(d.available_at, e.available_at) end
    as next_attempt_at,
  d.last_error, d.created_at

-- fragment: delivered_view
delivery_id as id, :delivery_delivered as state, type, org_id, monitor_id, row_id, job_id, event_group_id, attempt as attempts,
  null::timestamptz as next_attempt_at, null::text as last_error, created_at

-- name: delivery_admin_list
-- $1 state or null; $2 organisation; $3 monitor; $4 job; $5 the last id of the page before; $6 limit
select :delivery_view
from delivery d
left join endpoint e on e.id = d.endpoint_id
where ($1::smallint is null or d.state = $1)
  and ($2::uuid is null or d.org_id = $2)
  and ($3::uuid is null or d.monitor_id = $3)
  and ($4::uuid is null or d.job_id = $4)
  and ($5::uuid is null or d.id < $5)
order by d.id desc
limit $6

-- name: delivery_admin_list_delivered
-- $1 organisation; $2 monitor; $3 the last id of the page before; $4 limit
select :delivered_view
from delivery_attempt
where delivered
  and ($1::uuid is null or org_id = $1)
  and ($2::uuid is null or monitor_id = $2)
  and ($3::uuid is null or delivery_id < $3)
order by delivery_id desc
limit $4

-- name: delivery_admin_list_delivered_of_job
-- $1 organisation; $2 monitor; $3 job; $4 the last id of the page before; $5 limit. The callback of a job is made at its
-- end, those of a run's blocks until then; the bounds of their ids, a few seconds wider, find them by the index.
select :delivered_view
from delivery_attempt
where delivered
  and ($1::uuid is null or org_id = $1)
  and ($2::uuid is null or monitor_id = $2)
  and job_id = $3
  and ($4::uuid is null or delivery_id < $4)
  and delivery_id >= (select job_part_bound(case when j.kind = :kind_workflow then j.created_at else j.finished_at end
                                            - interval '10 seconds')
                      from job j where j.id = $3)
  and delivery_id < (select job_part_bound(coalesce(j.finished_at, now()) + interval '10 seconds')
                     from job j where j.id = $3)
order by delivery_id desc
limit $5

-- name: delivery_admin_read
select :delivery_view
from delivery d
left join endpoint e on e.id = d.endpoint_id
where d.id = $1

-- name: delivery_admin_read_delivered
select :delivered_view
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
set state = :delivery_pending, available_at = now(), replayed_at = now(), replayed_attempts = attempts, lease_token = null,
    endpoint_id = coalesce((select m.endpoint_id from monitor m where m.id = d.monitor_id), d.endpoint_id)
where d.id = any ($1::uuid[]) and d.state = :delivery_dead
returning d.org_id

-- name: delivery_admin_dead_batch
-- $1 organisation; $2 monitor; $3 since; $4 until; $5 the last id of the batch before; $6 limit
select id
from delivery
where state = :delivery_dead
  and ($1::uuid is null or org_id = $1)
  and ($2::uuid is null or monitor_id = $2)
  and ($3::timestamptz is null or created_at >= $3)
  and ($4::timestamptz is null or created_at < $4)
  and ($5::uuid is null or id > $5)
order by id
limit $6
for update
