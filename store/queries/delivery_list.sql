-- name: delivery_list_monitor
-- By the index of deliveries by monitor and id, whatever else there is.
select d.id, :delivery_state as state, d.type, d.row_id, d.channel_id, d.event_group_id, d.attempts,
       case when d.state :are_pending and d.lease_token is null then greatest(d.available_at, e.available_at) end
         as next_attempt_at,
       d.last_error, d.created_at, :receiver_fails as receiver_fails
from delivery d
left join endpoint e on e.id = d.endpoint_id
where d.monitor_id = @monitor_id and d.id < coalesce(@before, 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid)
  and (@state::smallint is null or d.state in (@state, @state + :delivery_pending_of_channel))
order by d.id desc
limit @limit
