-- fragment: channel_columns
id, team_id, name, kind, coalesce(shown_url, url) as shown_url, tag, events, digest, include_values, locale, status,
  status_reason, created_at

-- fragment: told_columns
-- Those of event_columns, of an event e.
e.id, e.event_type, e.event_group_id, e.tick_id, e.field, e.previous_value, e.current_value, e.message, e.evidence,
  e.sources, e.confidence, e.created_at

-- name: channel_lock_org
-- Two requests of an organisation make no more channels together than each alone.
select from organisation where id = @org_id for update

-- name: channel_count
select count(*)::int from (select from channel where org_id = @org_id limit @limit) counted

-- name: channel_insert
insert into channel (id, org_id, team_id, name, kind, url, sealed_url, sealed_url_key_id, shown_url, tag, endpoint_id,
                     events, digest, include_values, locale, recipient_ids, digest_at)
values (@id, @org_id, @team_id, @name, @kind, @url, @sealed_url::bytea, @sealed_url_key_id, @shown_url, @tag, @endpoint_id,
        @events::smallint[], @digest, @include_values, @locale, @recipient_ids::uuid[],
        @digest_at::timestamptz)
returning :channel_columns

-- name: channel_list
-- Newest first.
select :channel_columns
from channel
where org_id = @org_id and (@team_id::uuid is null or team_id = @team_id)
  and id < coalesce(@before, 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid)
order by id desc
limit @limit

-- name: channel_get
select :channel_columns from channel
where id = @id and org_id = @org_id and (@team_id::uuid is null or team_id = @team_id)

-- name: channel_update
-- What is null stays as it is; the address, and the tag with it, where not @sets_url.
update channel
set name = coalesce(@name, name), events = coalesce(@events::smallint[], events),
    include_values = coalesce(@include_values::boolean, include_values),
    digest = coalesce(@digest, digest), digest_at = coalesce(@digest_at::timestamptz, digest_at),
    tag = case when @sets_url::boolean then @tag else tag end,
    url = case when @sets_url then @url else url end,
    sealed_url = case when @sets_url then @sealed_url::bytea else sealed_url end,
    sealed_url_key_id = case when @sets_url then @sealed_url_key_id else sealed_url_key_id end,
    shown_url = case when @sets_url then @shown_url else shown_url end,
    endpoint_id = case when @sets_url then @endpoint_id::uuid else endpoint_id end,
    locale = coalesce(@locale, locale), recipient_ids = coalesce(@recipient_ids::uuid[], recipient_ids),
    status = case @is_active::boolean when true then :channel_active when false then :channel_suspended else status end,
    status_reason = case @is_active when true then null when false then 'paused' else status_reason end,
    updated_at = now()
where id = @id and org_id = @org_id
returning :channel_columns

-- name: channel_give_up
-- What is pending for the channel, but for questions to its recipients, and for what an attempt is under way.
update delivery
set state = :delivery_dead_of_channel, lease_token = null, last_error = @last_error
where channel_id = @id and state = :delivery_pending_of_channel and type <> @question
  and (lease_token is null or available_at <= now())

-- name: channel_delete
-- Monitors may go on naming it: what is not there is told nothing.
delete from channel where id = @id and org_id = @org_id returning id

-- name: channels_known
-- The ones of @ids that monitors of the team may name: its own, and those of the whole organisation.
select id from channel
where id = any (@ids::uuid[]) and org_id = @org_id and (@team_id::uuid is null or coalesce(team_id, @team_id) = @team_id)

-- name: channels_of_monitor
-- In the order in which they were given, without those that were deleted.
select c.id
from monitor m
cross join lateral unnest(m.channel_ids) with ordinality as given(id, n)
join channel c on c.id = given.id
where m.id = @monitor_id
order by given.n

-- name: channel_news
-- The channels of deliveries, and what their notifications are about. Nothing of a channel that was deleted.
select u.delivery_id, c.id as channel_id, c.org_id, c.kind, c.url, c.sealed_url, c.sealed_url_key_id, c.tag,
       c.endpoint_id, c.include_values, c.name as channel_name, c.status = :channel_suspended as is_paused,
       a.id as recipient_id,
       coalesce(a.address, '') as address, a.status as recipient_status, m.name as monitor_name, m.metadata, r.subject
from unnest(@delivery_id::uuid[], @channel_id::uuid[], @monitor_id::uuid[], @row_id::uuid[], @recipient_id::uuid[])
  as u(delivery_id, channel_id, monitor_id, row_id, recipient_id)
join channel c on c.id = u.channel_id
left join lateral (
  select p.id, p.address, p.status from recipient p
  where p.id = any (c.recipient_ids)
    and (p.id = u.recipient_id or (u.recipient_id is null and p.status = :recipient_confirmed))
  order by array_position(c.recipient_ids, p.id)
  limit 1
) a on true
left join monitor m on m.id = u.monitor_id
left join monitor_row r on r.id = u.row_id

-- name: channel_events
-- The events of each delivery's check: errors, then changes by field.
select u.delivery_id, u.monitor_id, u.row_id, :told_columns
from unnest(@delivery_id::uuid[], @monitor_id::uuid[], @row_id::uuid[], @event_group_id::uuid[])
  as u(delivery_id, monitor_id, row_id, event_group_id)
cross join lateral (
  select :event_columns
  from event
  where event.row_id = u.row_id and event.event_group_id = u.event_group_id
  order by event_type desc, field collate "C"
  limit @limit
) e

-- name: channel_urls_to_reseal
-- Channels whose addresses were sealed with one of the former keys, at most @limit.
select id, org_id, sealed_url as sealed, sealed_url_key_id as key_id
from channel
where sealed_url is not null and sealed_url_key_id = any (@former_key_id::text[])
order by id
limit @limit
for no key update

-- name: channel_urls_reseal
update channel c
set sealed_url = u.sealed, sealed_url_key_id = @encryption_key_id
from unnest(@id::uuid[], @sealed::bytea[]) as u(id, sealed)
where c.id = u.id

-- name: channel_feed
-- Nothing of an organisation that is locked, unless it is for a move: who reads is answered, or told where it lives.
select c.org_id, c.name, c.events, c.include_values, c.created_at, o.lives_at
from channel c
join organisation o on o.id = c.org_id
where c.id = @id and c.kind = @kind and (not o.locked or o.lives_at is not null or (:answered_until) is not null)

-- name: channel_feed_events
-- The newest changes and failed checks of the monitors that name the channel; of so many monitors the newest ones, and of
-- each so many events. A completed check has an error, too, where a field could not be read: its outcome tells.
with told as materialized (
  select m.id, m.name
  from monitor m
  where m.channel_ids @> array[@id::uuid] and m.org_id = @org_id
  order by m.id desc
  limit @monitors_max
)
select t.name as monitor_name, e.monitor_id, e.row_id, :told_columns
from told t
cross join lateral (
  select n.*
  from (
    select :event_columns, monitor_id, row_id
    from event
    where event.monitor_id = t.id and event_type = any (@types::smallint[])
    order by tick_id desc, event.id desc
    limit @looked_max
  ) n
  where n.event_type <> :event_error or coalesce((:outcome_of_event), :outcome_failed) = :outcome_failed
  order by n.tick_id desc, n.id desc
  limit @limit
) e
order by e.tick_id desc, e.id desc
limit @limit
