-- name: digest_due
-- Channels whose digest is to be cut now, each for one process.
select id, digest
from channel
where digest_at <= now()
order by digest_at
limit @limit
for update skip locked

-- name: digest_cut
-- What waits behind the channel's lock. What commits later goes into the next one.
with cut as (
  update digest_event set digest_id = @digest_id where channel_id = @channel_id and digest_id is null
  returning 1)
select count(*) from cut

-- name: digest_deliver
-- One delivery, or one a recipient. It names the channel in the place of a monitor, and the digest in that of a row. What
-- was gathered for a channel that is paused by now is given up when it is tried, and can be replayed.
insert into delivery (id, org_id, endpoint_id, monitor_id, row_id, event_group_id, type, state, available_at, channel_id,
                      recipient_id)
select case when r.id is null then @delivery_id::uuid
            else overlay(@delivery_id::text placing left(md5(@delivery_id::text || r.id::text), 12) from 25)::uuid end,
       c.org_id, c.endpoint_id, c.id, @digest_id::uuid, @digest_id, @type::smallint, :delivery_pending_of_channel, now(),
       c.id, r.id
from channel c
cross join lateral (
  select null::uuid as id where c.recipient_ids is null
  union all
  select a.id from recipient a where a.id = any (c.recipient_ids) and a.status = :recipient_confirmed
) r
where c.id = @channel_id and (c.status = :channel_active or @also_paused::boolean) and c.endpoint_id is not null

-- name: digest_next
update channel set digest_at = @digest_at where id = @id

-- name: digest_counts
select digest_id, count(*)::int as notifications
from digest_event
where digest_id = any (@digest_ids::uuid[])
group by digest_id

-- name: digest_events
-- What digests tell, in the order in which it was gathered, at most @limit of each.
select u.delivery_id, t.*
from unnest(@delivery_id::uuid[], @digest_id::uuid[]) as u(delivery_id, digest_id)
cross join lateral (
  select m.name as monitor_name, r.subject, g.monitor_id, g.row_id, :told_columns
  from digest_event g
  cross join lateral (
    select :event_columns from event where event.row_id = g.row_id and event.event_group_id = g.event_group_id
  ) e
  left join monitor m on m.id = g.monitor_id
  left join monitor_row r on r.id = g.row_id
  where g.digest_id = u.digest_id
  order by g.n, e.event_type desc, e.field collate "C"
  limit @limit
) t

-- name: digest_expire
-- What no delivery that may be replayed tells any more: it waited for at most a week. What waits still stays, but for a
-- channel that was deleted.
with gone as (
  delete from digest_event
  where (channel_id, n) in (select channel_id, n from digest_event
                            where created_at < now() - (@kept_h + 168) * interval '1 hour'
                              and (digest_id is not null
                                   or not exists (select from channel where channel.id = digest_event.channel_id))
                            order by created_at limit @limit)
  returning 1)
select count(*) from gone
