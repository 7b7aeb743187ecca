-- Statements that run for every check take their arrays apart in a select list, one row at a time. unnest of several
-- arrays in a FROM clause first writes each array into a table of its own, and reads those beside each other. Times
-- come as microseconds since the epoch (store/param.h).

-- name: record_lock_chunks
select c.id, c.reserved_mc, c.month, now(), :held_columns
from unnest(@id::uuid[], @token::uuid[]) as u(id, token)
join chunk c on c.id = any (array[u.id]) and c.lease_token = u.token
order by u.id
for update of c

-- fragment: whole_blocks_update
update state_block b
set tick_id = u.tick_id, last_run_at = u.looked_until, outcomes = u.outcomes, groups = null, group_ticks = null,
    group_runs = null
from (select unnest(@monitor_id::uuid[]) as monitor_id, unnest(@block::int[]) as block,
             unnest(@tick_id::bigint[]) as tick_id, unnest(@outcomes::bytea[]) as outcomes,
             timestamptz 'epoch' + unnest(@looked_until::bigint[]) * interval '1 microsecond' as looked_until) as u
where b.monitor_id = u.monitor_id and b.block = u.block and length(b.outcomes) = length(u.outcomes)

-- name: record_row_states
-- Blocks all of whose rows were checked: nothing of what was known of them stays. The answer's tag says how many were
-- written: to return and count them would cost a monitor of one row a row of its own.
:whole_blocks_update
  and b.tick_id < u.tick_id

-- name: record_lock_rows
-- Those that are not removed. row_remove waits.
select id from monitor_row where id = any (@ids::uuid[]) and removed_at is null order by id for key share

-- name: record_snapshots
-- Contents come in the order of their keys, each once, so that transactions that write the same ones wait for each
-- other in one order. Tells the snapshot of the row before, of those that have one.
with contents as (
  insert into snapshot_content as c (org_id, hash, body)
  select unnest(@content_org_id::uuid[]), unnest(@hash::bytea[]), unnest(@body::bytea[])
  on conflict (org_id, hash) do update set used_at = now() where c.used_at < now() - interval '1 day'
), taken as materialized (
  select u.*, (select p.id from snapshot p where p.row_id = u.row_id and p.tick_id < u.tick_id
               order by p.tick_id desc limit 1) as previous_id
  from (select unnest(@id::uuid[]) as id, unnest(@org_id::uuid[]) as org_id, unnest(@monitor_id::uuid[]) as monitor_id,
               unnest(@row_id::uuid[]) as row_id, unnest(@tick_id::bigint[]) as tick_id, unnest(@url::text[]) as url,
               unnest(@is_rendered::boolean[]) as is_rendered,
               unnest(@text_hash::bytea[]) as text_hash, unnest(@text_bytes::int[]) as text_bytes,
               unnest(@picture_hash::bytea[]) as picture_hash) as u
), kept as (
  insert into snapshot (id, org_id, monitor_id, row_id, tick_id, previous_id, url, is_rendered, text_hash,
                        text_bytes, picture_hash)
  select id, org_id, monitor_id, row_id, tick_id, previous_id, url, is_rendered, text_hash, text_bytes,
         picture_hash
  from taken
)
select id, previous_id from taken where previous_id is not null

-- name: record_failed_pages
-- The last one of each row.
insert into failed_page as f (row_id, id, org_id, monitor_id, picture)
select * from unnest(@row_id::uuid[], @id::uuid[], @org_id::uuid[], @monitor_id::uuid[], @picture::bytea[])
on conflict (row_id) do update set id = excluded.id, picture = excluded.picture, failed_at = now()

-- name: record_events
insert into event (id, org_id, monitor_id, row_id, tick_id, event_group_id, event_type, field,
                   previous_value, current_value, message, evidence, sources, confidence, previous_snapshot_id,
                   snapshot_id)
select unnest(@id::uuid[]), unnest(@org_id::uuid[]), unnest(@monitor_id::uuid[]), unnest(@row_id::uuid[]),
       unnest(@tick_id::bigint[]), unnest(@event_group_id::uuid[]), unnest(@event_type::smallint[]),
       unnest(@field::text[]), unnest(@previous_value::json[]), unnest(@current_value::json[]),
       unnest(@message::text[]), unnest(@evidence::text[]), unnest(@sources::json[]), unnest(@confidence::float8[]),
       unnest(@previous_snapshot_id::uuid[]), unnest(@snapshot_id::uuid[])

-- name: record_rows
update monitor_row r
set baseline = coalesce(u.baseline, r.baseline), known = coalesce(u.known, r.known), pending = u.pending,
    seen = case when u.seen is null then r.seen else coalesce(r.seen, '{}') || u.seen end,
    struct_version = u.struct_version, updated_at = now()
from (select unnest(@monitor_id::uuid[]) as monitor_id, unnest(@position::int[]) as position,
             unnest(@baseline::json[]) as baseline, unnest(@known::json[]) as known,
             unnest(@pending::json[]) as pending, unnest(@seen::jsonb[]) as seen,
             unnest(@struct_version::int[]) as struct_version) as u
where r.monitor_id = u.monitor_id and r.position = u.position

-- name: record_deliveries
-- To where the monitor sends now, which may have changed since the claim. One whose receiver is another one by now is
-- left to the deliverer that claims it. Tells where @monitor_ids send, of which @target counts from 1: a monitor is looked
-- up once, not once for each of its deliveries, and one without a receiver has the id of none.
with target as (
  select array_agg(coalesce(case when m.webhook_url is not null then m.endpoint_id end, :no_endpoint)
                   order by i.n) as endpoint_ids
  from unnest(@monitor_ids::uuid[]) with ordinality as i(id, n)
  left join monitor m on m.id = i.id
), written as (
  insert into delivery (id, org_id, endpoint_id, monitor_id, row_id, event_group_id, type, available_at,
                        lease_token)
  select u.id, u.org_id, u.endpoint_id, u.monitor_id, u.row_id, u.event_group_id, u.type,
         case when u.lease_token is null or u.endpoint_id <> u.claimed_endpoint_id then now()
              else now() + @lease_ms * interval '1 millisecond' end,
         case when u.endpoint_id = u.claimed_endpoint_id then u.lease_token end
  from (select d.*, t.endpoint_ids[d.target] as endpoint_id
        from (select unnest(@id::uuid[]) as id, unnest(@org_id::uuid[]) as org_id,
                     unnest(@endpoint_id::uuid[]) as claimed_endpoint_id, unnest(@monitor_id::uuid[]) as monitor_id,
                     unnest(@target::int[]) as target, unnest(@row_id::uuid[]) as row_id,
                     unnest(@event_group_id::uuid[]) as event_group_id, unnest(@type::smallint[]) as type,
                     unnest(@lease_token::uuid[]) as lease_token) as d
        cross join target t) as u
  where u.endpoint_id <> :no_endpoint
)
select :target_columns from monitor where id = any(@monitor_ids::uuid[])

-- fragment: no_endpoint
'00000000-0000-0000-0000-000000000000'::uuid

-- name: record_channel_deliveries
-- To the channels that the monitors name now and that want it; what was claimed before a channel joined does not tell it.
-- One of kind email has a delivery a recipient, whose id is made of the given one: its time stays. What a digest tells
-- waits for it.
with told as materialized (
  select u.id, u.org_id, u.monitor_id, u.row_id, u.event_group_id, u.type, c.id as channel_id, c.endpoint_id,
         c.recipient_ids, c.digest <> 'none' as waits
  from (select unnest(@id::uuid[]) as id, unnest(@org_id::uuid[]) as org_id, unnest(@channel_id::uuid[]) as channel_id,
               unnest(@monitor_id::uuid[]) as monitor_id, unnest(@row_id::uuid[]) as row_id,
               unnest(@event_group_id::uuid[]) as event_group_id, unnest(@type::smallint[]) as type) as u
  join monitor m on m.id = u.monitor_id and u.channel_id = any (m.channel_ids)
  join channel c on c.id = u.channel_id and c.org_id = u.org_id
  where c.status = :channel_active and u.type = any (c.events) and c.endpoint_id is not null
), waiting as (
  insert into digest_event (channel_id, monitor_id, row_id, event_group_id, type)
  select channel_id, monitor_id, row_id, event_group_id, type from told where waits
)
insert into delivery (id, org_id, endpoint_id, monitor_id, row_id, event_group_id, type, state, available_at, channel_id,
                      recipient_id)
select case when r.id is null then t.id
            else overlay(t.id::text placing left(md5(t.id::text || r.id::text), 12) from 25)::uuid end,
       t.org_id, t.endpoint_id, t.monitor_id, t.row_id, t.event_group_id, t.type, :delivery_pending_of_channel, now(),
       t.channel_id, r.id
from told t
cross join lateral (
  select null::uuid as id where t.recipient_ids is null
  union all
  select a.id from recipient a where a.id = any (t.recipient_ids) and a.status = :recipient_confirmed
) r
where not t.waits

-- name: record_log
insert into check_log (monitor_id, block, tick_id, first, org_id, outcomes, check_ms)
select unnest(@monitor_id::uuid[]), unnest(@block::int[]), unnest(@tick_id::bigint[]), unnest(@first::smallint[]),
       unnest(@org_id::uuid[]), unnest(@outcomes::bytea[]), unnest(@check_ms::int[])

-- name: record_ticks
insert into tick (monitor_id, tick_id, org_id, trigger, due_at, started_at, finished_at, slots, row_count,
                  outcomes)
select u.monitor_id, u.tick_id, u.org_id, u.trigger, u.due_at, u.started_at, now(), u.slots,
       length(u.outcomes), u.outcomes
from (select unnest(@monitor_id::uuid[]) as monitor_id, unnest(@tick_id::bigint[]) as tick_id,
             unnest(@org_id::uuid[]) as org_id, unnest(@trigger::smallint[]) as trigger,
             timestamptz 'epoch' + unnest(@due_at::bigint[]) * interval '1 microsecond' as due_at,
             timestamptz 'epoch' + unnest(@started_at::bigint[]) * interval '1 microsecond' as started_at,
             unnest(@slots::int[]) as slots, unnest(@outcomes::bytea[]) as outcomes) as u

-- fragment: sched_closed
-- What is set of a monitor_sched s whose open tick u (tick_id, check_ms, completed, failed, started_at where the schedule
-- does not say it) ends. Whether the monitor began to fail, or works again: what an UPDATE returns is the new row alone,
-- so the row says itself at which tick it turned. To read the old rows beside would cost a fifth of record_close_ticks
-- more.
open_tick_id = null, open_due_at = null, open_started_at = null, open_slots = null, open_rows = null,
  open_trigger = null, check_ms = case when u.check_ms > 0 then u.check_ms else s.check_ms end,
  failing_since = case when u.completed then null
                       when u.failed then coalesce(s.failing_since, s.open_started_at, u.started_at)
                       else s.failing_since end,
  turned_tick_id = case when s.failing_since is not null and u.completed
                          or s.failing_since is null and u.failed and not u.completed
                        then u.tick_id else s.turned_tick_id end

-- name: record_close_ticks
-- Ticks that a chunk held (@open_tick_id is null) come here where they change how their monitor is. Tells which monitors
-- began to fail, or work again.
with closed as (
  update monitor_sched s
  set :sched_closed
  from (select unnest(@monitor_id::uuid[]) as monitor_id, unnest(@tick_id::bigint[]) as tick_id,
               unnest(@open_tick_id::bigint[]) as open_tick_id,
               timestamptz 'epoch' + unnest(@started_at::bigint[]) * interval '1 microsecond' as started_at,
               unnest(@check_ms::int[]) as check_ms, unnest(@completed::boolean[]) as completed,
               unnest(@failed::boolean[]) as failed) as u
  where s.monitor_id = u.monitor_id and s.open_tick_id is not distinct from u.open_tick_id
  returning s.monitor_id, s.org_id, s.failing_since is not null as fails, s.turned_tick_id = u.tick_id as turned
)
select monitor_id, org_id, fails from closed where turned

-- name: record_charges
insert into credit_entry (org_id, team_id, amount_mc, checks, tier, chunk_id)
select u.org_id, u.team_id, -u.amount_mc, u.checks, u.tier, u.chunk_id
from unnest(@org_id::uuid[], @team_id::uuid[], @amount_mc::bigint[], @checks::int[], @tier::smallint[],
            @chunk_id::uuid[])
  as u(org_id, team_id, amount_mc, checks, tier, chunk_id)

-- name: record_progress
-- Chunks that go on: what is charged leaves the reservation, and progress resets the count of claims.
update chunk c set reserved_mc = c.reserved_mc - u.amount_mc, claims = 0
from unnest(@id::uuid[], @amount_mc::bigint[]) as u(id, amount_mc)
where c.id = any (array[u.id])

-- name: record_delete_chunks
delete from chunk where id = any(@ids::uuid[])
