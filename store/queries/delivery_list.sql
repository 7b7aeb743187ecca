-- name: delivery_list_monitor
-- By the index of deliveries by monitor and id, whatever else there is.
select d.id, :delivery_state as state, d.type, d.row_id, d.channel_id, d.event_group_id, d.attempts,
       :delivery_next_attempt as next_attempt_at,
       d.last_error, d.created_at, :receiver_fails as receiver_fails
from delivery d
left join endpoint e on e.id = d.endpoint_id
where d.monitor_id = @monitor_id and d.id < coalesce(@before, 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid)
  and (@state::smallint is null or d.state in (@state, @state + :delivery_pending_of_channel))
order by d.id desc
limit @limit

-- name: delivery_list_channel
-- What is pending or was given up, and what arrived, by the indexes of channels. The address of a recipient who is not
-- kept any more is missing.
select t.*, p.address as recipient
from (
  (select d.id, :delivery_state as state, d.type, d.row_id, d.channel_id, d.event_group_id, d.attempts,
          :delivery_next_attempt as next_attempt_at,
          d.last_error, d.created_at, :receiver_fails as receiver_fails, d.recipient_id,
          d.monitor_id = d.channel_id as names_channel
   from delivery d
   left join endpoint e on e.id = d.endpoint_id
   where d.channel_id = @channel_id and d.id < coalesce(@before, 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid)
   order by d.id desc
   limit @limit)
  union all
  (select distinct on (a.delivery_id)
          a.delivery_id, :delivery_delivered, a.type, a.row_id, a.channel_id, a.event_group_id, a.attempt, null, null,
          a.created_at, false, a.recipient_id, a.monitor_id = a.channel_id
   from delivery_attempt a
   where a.channel_id = @channel_id and a.delivered
     and a.delivery_id < coalesce(@before, 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid)
     and not exists (select from delivery d where d.id = a.delivery_id)
   order by a.delivery_id desc, a.attempt desc
   limit @limit)
) t
left join recipient p on p.id = t.recipient_id
order by t.id desc
limit @limit
