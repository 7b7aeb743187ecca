-- name: monitor_get
select * from monitor_shown
where id = $1 and ($2::uuid is null or org_id = $2) and ($3::uuid is null or team_id = $3)

-- name: monitor_list_org
select * from (
  select m.*, b.bytes, sum(b.bytes) over (order by m.id desc rows unbounded preceding) as bytes_until
  from (
    select * from monitor_shown
    where org_id = $1 and id < $2
      and ($3::uuid is null or team_id = $3)
      and ($4::int[] is null or shown_status = any ($4))
      and ($5::text is null or position(lower($5) in lower(name)) > 0 or id::text = lower($5))
    order by id desc
    limit $6
  ) m
  cross join lateral (
    select octet_length(m.name) + octet_length(m.struct::text) + coalesce(octet_length(m.metadata::text), 0)
           + coalesce(octet_length(m.research_plan), 0) + coalesce(octet_length(m.webhook_url), 0) as bytes
  ) b
) page
where bytes_until - bytes < $7
order by id desc

-- name: monitor_list_all
select * from (
  select m.*, b.bytes, sum(b.bytes) over (order by m.id desc rows unbounded preceding) as bytes_until
  from (
    select * from monitor_shown
    where id < $1
      and ($2::int[] is null or shown_status = any ($2))
      and ($3::text is null or position(lower($3) in lower(name)) > 0 or id::text = lower($3))
    order by id desc
    limit $4
  ) m
  cross join lateral (
    select octet_length(m.name) + octet_length(m.struct::text) + coalesce(octet_length(m.metadata::text), 0)
           + coalesce(octet_length(m.research_plan), 0) + coalesce(octet_length(m.webhook_url), 0) as bytes
  ) b
) page
where bytes_until - bytes < $5
order by id desc

-- name: monitor_list_run
select * from (
  select m.*, b.bytes, sum(b.bytes) over (order by m.id desc rows unbounded preceding) as bytes_until
  from (
    select * from monitor_shown
    where org_id = $1 and run_id = $2 and id < $3
      and ($4::uuid is null or team_id = $4)
      and ($5::int[] is null or shown_status = any ($5))
    order by id desc
    limit $6
  ) m
  cross join lateral (
    select octet_length(m.name) + octet_length(m.struct::text) + coalesce(octet_length(m.metadata::text), 0)
           + coalesce(octet_length(m.research_plan), 0) + coalesce(octet_length(m.webhook_url), 0) as bytes
  ) b
) page
where bytes_until - bytes < $7
order by id desc

-- name: organisation_share
-- For share: ChangeOrganisation must not miss a monitor that is being made, nor this one its change.
select locked or not features @> array['monitors'] as stopped from organisation where id = $1 for share

-- name: team_exists
select 1 from team where org_id = $1 and id = $2

-- name: idempotency_lock
select pg_try_advisory_xact_lock($1::bigint)

-- name: idempotency_expire
delete from idempotency_key
where org_id = $1 and key = $2 and created_at < now() - make_interval(hours => $3::int)

-- name: idempotency_get
select body_sha256, monitor_id, answer, row_count from idempotency_key
where org_id = $1 and key = $2 and created_at >= now() - make_interval(hours => $3::int)

-- name: idempotency_insert
insert into idempotency_key (org_id, key, body_sha256, monitor_id, answer, row_count)
values ($1, $2, $3, $4, $5::json, $6)

-- name: endpoint_find
-- For key share: maintenance must not forget it meanwhile.
select id from endpoint where org_id = $1 and scheme = $2 and host = $3 and port = $4 for key share

-- name: endpoint_insert
insert into endpoint (id, org_id, scheme, host, port) values ($1, $2, $3, $4, $5)
on conflict (org_id, scheme, host, port) do nothing

-- name: monitor_insert
insert into monitor (id, org_id, team_id, name, frequency, tier, subject_type, status, key_columns, struct,
                     research_plan, metadata, webhook_url, webhook_event_types, endpoint_id, confirm_after,
                     missing_confirmations, run_id)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10::json, $11, $12::json, $13, $14, $15, $16, $17, $18)

-- name: monitor_sched_insert
insert into monitor_sched (monitor_id, org_id, team_id, tier, live, frequency_s, anchor_at, next_run_at, row_count,
                           active_row_count)
values ($1, $2, $3, $4, $5, $6, now(), now(), $7, $7)

-- name: monitor_change
update monitor
set name = coalesce($2, name),
    webhook_url = case when $3::boolean then $4 else webhook_url end,
    endpoint_id = case when $3 then $5::uuid else endpoint_id end,
    metadata = case when $6::boolean then $7::json else metadata end,
    research_plan = case when $8::boolean then $9 else research_plan end,
    frequency = coalesce($10, frequency),
    confirm_after = coalesce($11::int, confirm_after),
    missing_confirmations = coalesce($12::int, missing_confirmations),
    updated_at = now()
where id = $1

-- name: monitor_change_frequency
-- With the clock once the row is locked: a scheduler may have cut a slot since this transaction began.
update monitor_sched s
set frequency_s = $2
from (select frequency_s from monitor_sched where monitor_id = $1) old
where s.monitor_id = $1
returning old.frequency_s <> $2 as changed, s.live, s.anchor_at, s.next_run_at, clock_timestamp() as at

-- name: sched_set_next
update monitor_sched set next_run_at = $2 where monitor_id = $1
