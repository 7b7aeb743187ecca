-- fragment: delivery_view
-- What DeliveryView is read from: of a delivery d with its endpoint e, or of the attempt that delivered it.
d.id, :delivery_state as state, d.type, d.org_id, d.monitor_id, d.row_id, d.job_id, d.channel_id, d.event_group_id,
  d.attempts,
  :delivery_next_attempt as next_attempt_at,
  d.last_error, d.created_at, :receiver_fails as receiver_fails

-- fragment: delivery_next_attempt
-- The next attempt at a delivery d with its endpoint e, without the years for which a move has put it off.
case when d.state :are_pending and d.lease_token is null
     then greatest(d.available_at - case when d.available_at > now() + :move_far_from then :move_far else interval '0' end,
                   e.available_at) end

-- fragment: delivered_view
delivery_id as id, :delivery_delivered as state, type, org_id, monitor_id, row_id, job_id, channel_id,
  event_group_id, attempt as attempts, null::timestamptz as next_attempt_at, null::text as last_error, created_at,
  false as receiver_fails

-- name: delivery_admin_list
-- Every filter may be null; @before is the last id of the page before.
select :delivery_view
from delivery d
left join endpoint e on e.id = d.endpoint_id
where (@state::smallint is null or d.state in (@state, @state + :delivery_pending_of_channel))
  and (@org_id::uuid is null or d.org_id = @org_id)
  and (@monitor_id::uuid is null or d.monitor_id = @monitor_id)
  and (@job_id::uuid is null or d.job_id = @job_id)
  and (@before::uuid is null or d.id < @before)
order by d.id desc
limit @limit

-- name: delivery_admin_dead_of_org
-- By the index of those that were given up, whatever others have.
select :delivery_view
from delivery d
left join endpoint e on e.id = d.endpoint_id
where d.state :are_dead and d.org_id = @org_id
  and d.id < coalesce(@before, 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid)
order by d.id desc
limit @limit

-- name: delivery_admin_dead_batch_of_org
-- A batch of an organisation, as delivery_admin_dead_batch, by the same index.
select id
from delivery
where state :are_dead and org_id = @org_id
  and id > coalesce(@after, '00000000-0000-0000-0000-000000000000'::uuid)
  and (@monitor_id::uuid is null or monitor_id = @monitor_id)
  and (@since::timestamptz is null or created_at >= @since)
  and (@until::timestamptz is null or created_at < @until)
order by id
limit @limit
for update

-- name: delivery_admin_list_delivered
-- @before is the last id of the page before.
-- One that is sent again has more than one attempt that delivered it, and is pending meanwhile.
select distinct on (delivery_id) :delivered_view
from delivery_attempt
where delivered
  and (@org_id::uuid is null or org_id = @org_id)
  and (@monitor_id::uuid is null or monitor_id = @monitor_id)
  and (@before::uuid is null or delivery_id < @before)
  and not exists (select from delivery d where d.id = delivery_id)
order by delivery_id desc, attempt desc
limit @limit

-- name: delivery_admin_list_delivered_of_job
-- @before is the last id of the page before. The callback of a job is made at its
-- end, those of a run's blocks until then; the bounds of their ids, a few seconds wider, find them by the index.
select distinct on (delivery_id) :delivered_view
from delivery_attempt
where delivered
  and (@org_id::uuid is null or org_id = @org_id)
  and (@monitor_id::uuid is null or monitor_id = @monitor_id)
  and not exists (select from delivery d where d.id = delivery_id)
  and job_id = @job_id
  and (@before::uuid is null or delivery_id < @before)
  and delivery_id >= (select job_part_bound(case when j.kind = :kind_workflow then j.created_at else j.finished_at end
                                            - interval '10 seconds')
                      from job j where j.id = @job_id)
  and delivery_id < (select job_part_bound(coalesce(j.finished_at, now()) + interval '10 seconds')
                     from job j where j.id = @job_id)
order by delivery_id desc, attempt desc
limit @limit

-- name: delivery_admin_read
select :delivery_view
from delivery d
left join endpoint e on e.id = d.endpoint_id
where d.id = @delivery_id

-- name: delivery_admin_read_delivered
select :delivered_view
from delivery_attempt
where delivery_id = @delivery_id and delivered
order by attempt desc
limit 1

-- name: delivery_admin_target
-- The receiver of the monitor's notifications now, and what goes with them; whether the organisation signs.
select m.webhook_url, m.metadata,
       exists (select from signing_secret s where s.org_id = @org_id) as signs
from monitor m
where m.id = @monitor_id

-- name: delivery_admin_attempts
select attempt, attempted_at, delivered, status_code, error, answer, duration_us
from delivery_attempt
where delivery_id = @delivery_id
order by attempt desc
limit @limit

-- name: delivery_admin_lock
select :delivery_state as state from delivery d where d.id = @delivery_id for update

-- name: delivery_admin_was_delivered
select from delivery_attempt where delivery_id = @delivery_id and delivered limit 1

-- name: delivery_admin_replay
-- The monitor's receiver may be another one by now; the claim finds out where a channel is told.
update delivery d
set state = :delivery_pending + :of_channel, available_at = now(), replayed_at = now(), replayed_attempts = attempts,
    lease_token = null, endpoint_id = coalesce((select m.endpoint_id from monitor m
                                                where m.id = d.monitor_id and d.channel_id is null), d.endpoint_id)
where d.id = any (@delivery_ids::uuid[]) and d.state :are_dead
returning d.org_id

-- name: delivery_admin_hasten
-- Due at once, whatever its schedule and its receiver's breaker say; not where an attempt is under way.
with hastened as (
  update delivery set available_at = now()
  where id = @delivery_id and state :are_pending and (lease_token is null or available_at <= now())
  returning org_id, endpoint_id
), tried as (
  update endpoint e set available_at = now()
  from hastened h
  where e.id = h.endpoint_id and e.available_at > now()
)
select org_id from hastened

-- name: delivery_admin_resend
-- Pending again, for where its monitor, its channel, its job or the block of its run sends now; nothing where that is
-- nowhere.
insert into delivery (id, org_id, endpoint_id, monitor_id, row_id, job_id, block, job_status, event_group_id, type,
                      created_at, attempts, available_at, replayed_at, replayed_attempts, channel_id, state,
                      recipient_id)
select a.delivery_id, a.org_id, coalesce(c.endpoint_id, m.endpoint_id, j.endpoint_id, b.endpoint_id), a.monitor_id, a.row_id,
       a.job_id, a.block, a.job_status, a.event_group_id, a.type, a.created_at, a.attempt, now(), now(), a.attempt,
       a.channel_id, case when a.channel_id is null then :delivery_pending else :delivery_pending_of_channel end,
       a.recipient_id
from delivery_attempt a
left join monitor m on m.id = a.monitor_id
left join job j on j.id = a.job_id
left join job_block b on b.job_id = a.job_id and b.block = a.block
left join channel c on c.id = a.channel_id
where a.delivery_id = @delivery_id and a.delivered
  and case when a.channel_id is null then coalesce(m.webhook_url, j.webhook_url, b.webhook_url) is not null
           else c.endpoint_id is not null end
order by a.attempt desc
limit 1
on conflict (id) do nothing
returning org_id

-- name: delivery_admin_dead_batch
-- @after is the last id of the batch before.
select id
from delivery
where state :are_dead
  and (@monitor_id::uuid is null or monitor_id = @monitor_id)
  and (@since::timestamptz is null or created_at >= @since)
  and (@until::timestamptz is null or created_at < @until)
  and (@after::uuid is null or id > @after)
order by id
limit @limit
for update
