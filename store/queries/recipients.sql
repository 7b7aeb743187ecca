-- name: recipient_ensure
-- One that is there keeps its status, but that one whom the relay refused is asked again. Nothing more is stored of one
-- who left.
insert into recipient (id, org_id, digest, address)
select u.id, @org_id::uuid, u.digest, u.address
from unnest(@id::uuid[], @digest::bytea[], @address::text[]) as u(id, digest, address)
on conflict (org_id, digest) do update
set address = case when recipient.status = :recipient_unsubscribed then recipient.address else excluded.address end,
    status = case when recipient.status = :recipient_suspended then :recipient_unconfirmed else recipient.status end,
    status_reason = null
returning id, digest

-- name: recipient_ask
-- Asks the owners of those that are not confirmed, each at most once a day, whatever channels name them, and at most
-- @questions_max of the organisation a day. Behind its lock. The delivery of a question names the channel in the place
-- of a monitor, and the recipient in that of a row.
with asked as (
  update recipient set asked_at = now()
  where id in (
    select p.id from recipient p
    where p.id = any (@recipient_id::uuid[]) and p.status = :recipient_unconfirmed
      and (p.asked_at is null or p.asked_at < now() - interval '1 day')
    order by p.id
    limit (select greatest(@questions_max::bigint - count(*), 0) from recipient o
           where o.org_id = @org_id::uuid and o.asked_at >= now() - interval '1 day'))
  returning id
)
insert into delivery (id, org_id, endpoint_id, monitor_id, row_id, event_group_id, type, state, available_at, channel_id,
                      recipient_id)
select u.delivery_id, @org_id::uuid, @endpoint_id::uuid, @channel_id::uuid, u.id, u.delivery_id, @type::smallint,
       :delivery_pending_of_channel, now(), @channel_id, u.id
from unnest(@recipient_id::uuid[], @delivery_id::uuid[]) as u(id, delivery_id)
join asked a on a.id = u.id

-- name: recipient_forget
-- The addresses that no channel of the organisation names any more; whether they may be told is kept.
update recipient a set address = null
where a.org_id = @org_id and a.address is not null
  and not exists (select from channel c where c.org_id = @org_id and c.recipient_ids @> array[a.id])

-- name: recipient_drop
-- Those of whom nothing is to be remembered: their owners never answered.
delete from recipient
where org_id = @org_id and address is null and status = :recipient_unconfirmed
  and (asked_at is null or asked_at < now() - interval '1 day')

-- name: recipient_list
-- Those of channels, in the order in which they were given.
select c.id as channel_id, a.id, coalesce(a.address, '') as address, a.status, a.status_reason
from channel c
cross join lateral unnest(c.recipient_ids) with ordinality as given(id, n)
join recipient a on a.id = given.id
where c.id = any (@channel_ids::uuid[]) and c.org_id = @org_id
order by c.id, given.n

-- name: recipient_org
select org_id from recipient where id = @id

-- name: recipient_confirm
update recipient set status = :recipient_confirmed, status_reason = null
where id = @id and status in (:recipient_unconfirmed, :recipient_confirmed) and address is not null
returning id

-- name: recipient_unsubscribe
update recipient set status = :recipient_unsubscribed, status_reason = null where id = @id returning id

-- name: recipient_bounced
update recipient a set status = :recipient_suspended, status_reason = u.reason
from unnest(@id::uuid[], @reason::text[]) as u(id, reason)
where a.id = u.id and a.status in (:recipient_unconfirmed, :recipient_confirmed)
