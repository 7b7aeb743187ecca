-- fragment: delivery_view
-- What DeliveryView is read from: of a delivery d with its endpoint e, or of the attempt that delivered it.
d.id, d.state, d.type, d.org_id, d.monitor_id, d.row_id, d.job_id, d.event_group_id, d.attempts,
  case when d.state = :delivery_pending and d.lease_token is null then greatest(d.available_at, e.available_at) end
    as next_attempt_at,
  d.last_error, d.created_at, :receiver_fails as receiver_fails

-- fragment: delivered_view
delivery_id as id, :delivery_delivered as state, type, org_id, monitor_id, row_id, job_id, event_group_id, attempt as attempts,
  null::timestamptz as next_attempt_at, null::text as last_error, created_at, false as receiver_fails

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
-- One that is sent again has more than one attempt that delivered it, and is pending meanwhile.
select distinct on (delivery_id) :delivered_view
from delivery_attempt
where delivered
  and ($1::uuid is null or org_id = $1)
  and ($2::uuid is null or monitor_id = $2)
  and ($3::uuid is null or delivery_id < $3)
  and not exists (select from delivery d where d.id = delivery_id)
order by delivery_id desc, attempt desc
limit $4

-- name: delivery_admin_list_delivered_of_job
-- $1 organisation; $2 monitor; $3 job; $4 the last id of the page before; $5 limit. The callback of a job is made at its
-- end, those of a run's blocks until then; the bounds of their ids, a few seconds wider, find them by the index.
select distinct on (delivery_id) :delivered_view
from delivery_attempt
where delivered
  and ($1::uuid is null or org_id = $1)
  and ($2::uuid is null or monitor_id = $2)
  and not exists (select from delivery d where d.id = delivery_id)
  and job_id = $3
  and ($4::uuid is null or delivery_id < $4)
  and delivery_id >= (select job_part_bound(case when j.kind = :kind_workflow then j.created_at else j.finished_at end
                                            - interval '10 seconds')
                      from job j where j.id = $3)
  and delivery_id < (select job_part_bound(coalesce(j.finished_at, now()) + interval '10 seconds')
                     from job j where j.id = $3)
order by delivery_id desc, attempt desc
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
order by attempt desc
limit 1

-- name: delivery_admin_target
-- Where the notifications of monitor $1 go now, and with what; whether organisation $2 signs.
select m.webhook_url, m.metadata,
       exists (select from signing_secret s where s.org_id = $2) as signs
from monitor m
where m.id = $1

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

-- name: delivery_admin_hasten
-- Due at once, whatever its schedule and its receiver's breaker say; not where an attempt is under way.
with hastened as (
  update delivery set available_at = now()
  where id = $1 and state = :delivery_pending and (lease_token is null or available_at <= now())
  returning org_id, endpoint_id
), tried as (
  update endpoint e set available_at = now()
  from hastened h
  where e.id = h.endpoint_id and e.available_at > now()
)
select org_id from hastened

-- name: delivery_admin_resend
-- Pending again, for where its monitor or its job sends now; nothing where that is nowhere.
insert into delivery (id, org_id, endpoint_id, monitor_id, row_id, job_id, block, job_status, event_group_id, type,
                      created_at, attempts, available_at, replayed_at, replayed_attempts)
select a.delivery_id, a.org_id, coalesce(m.endpoint_id, j.endpoint_id), a.monitor_id, a.row_id, a.job_id, a.block,
       a.job_status, a.event_group_id, a.type, a.created_at, a.attempt, now(), now(), a.attempt
from delivery_attempt a
left join monitor m on m.id = a.monitor_id
left join job j on j.id = a.job_id
where a.delivery_id = $1 and a.delivered and coalesce(m.webhook_url, j.webhook_url) is not null
order by a.attempt desc
limit 1
on conflict (id) do nothing
returning org_id

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
