-- fragment: monitor_columns
-- Of monitor_shown.
id, org_id, team_id, name, frequency, frequency_s, tier, subject_type, status, disabled_reason, key_columns, struct,
  research_plan, metadata, webhook_url, webhook_event_types, confirm_after, missing_confirmations, run_id, created_at,
  updated_at, next_run_at, last_run_at, row_count, active_row_count, organisation_stopped, webhook_failing,
  struct_version, field_versions, archived_at, failing_since, removed_row_count, rules, request_header_names,
  balance_mc, team_left_mc, webhook_waiting_until

-- fragment: monitor_bytes
-- What a monitor m adds to a page.
octet_length(m.name) + octet_length(m.struct::text) + coalesce(octet_length(m.metadata::text), 0)
  + coalesce(octet_length(m.rules::text), 0)
  + coalesce(octet_length(m.research_plan), 0) + coalesce(octet_length(m.webhook_url), 0)

-- name: monitor_get
select :monitor_columns from monitor_shown
where id = $1 and ($2::uuid is null or org_id = $2) and ($3::uuid is null or team_id = $3)

-- name: monitor_list_org
select :monitor_columns, bytes_until from (
  select m.*, b.bytes, sum(b.bytes) over (order by m.id desc rows unbounded preceding) as bytes_until
  from (
    select * from monitor_shown
    where org_id = $1 and id < $2 and ($8::boolean or archived_at is null)
      and (not $9::boolean or failing_since is not null)
      and ($3::uuid is null or team_id = $3)
      and ($4::int[] is null or shown_status = any ($4))
      and ($5::text is null or position(lower($5) in lower(name)) > 0 or id::text = lower($5))
    order by id desc
    limit $6
  ) m
  cross join lateral (select :monitor_bytes as bytes) b
) page
where bytes_until - bytes < $7
order by id desc

-- name: monitor_list_all
select :monitor_columns, bytes_until from (
  select m.*, b.bytes, sum(b.bytes) over (order by m.id desc rows unbounded preceding) as bytes_until
  from (
    select * from monitor_shown
    where id < $1 and ($6::boolean or archived_at is null)
      and (not $7::boolean or failing_since is not null)
      and ($2::int[] is null or shown_status = any ($2))
      and ($3::text is null or position(lower($3) in lower(name)) > 0 or id::text = lower($3))
    order by id desc
    limit $4
  ) m
  cross join lateral (select :monitor_bytes as bytes) b
) page
where bytes_until - bytes < $5
order by id desc

-- name: monitor_list_run
select :monitor_columns, bytes_until from (
  select m.*, b.bytes, sum(b.bytes) over (order by m.id desc rows unbounded preceding) as bytes_until
  from (
    select * from monitor_shown
    where org_id = $1 and run_id = $2 and id < $3 and ($8::boolean or archived_at is null)
      and (not $9::boolean or failing_since is not null)
      and ($4::uuid is null or team_id = $4)
      and ($5::int[] is null or shown_status = any ($5))
    order by id desc
    limit $6
  ) m
  cross join lateral (select :monitor_bytes as bytes) b
) page
where bytes_until - bytes < $7
order by id desc

-- name: monitor_insert
insert into monitor (id, org_id, team_id, name, frequency, tier, subject_type, status, key_columns, struct,
                     research_plan, metadata, webhook_url, webhook_event_types, endpoint_id, confirm_after,
                     missing_confirmations, run_id, rules, request_headers, request_headers_key_id,
                     request_header_names)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10::json, $11, $12::json, $13, $14, $15, $16, $17, $18, $19::json,
        $20::bytea, $21, $22::text[])

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
    rules = case when $13::boolean then $14::json else rules end,
    request_headers = case when $15::boolean then $16::bytea else request_headers end,
    request_headers_key_id = case when $15 then $17 else request_headers_key_id end,
    request_header_names = case when $15 then $18::text[] else request_header_names end,
    updated_at = now()
where id = $1

-- name: monitor_definition
-- With the schedule locked: no tick opens between this and what is made of it.
select m.struct, m.struct_version, m.field_versions, m.subject_type, m.former_tick_id, s.open_tick_id
from monitor m join monitor_sched s on s.monitor_id = m.id
where m.id = $1
for update of s

-- name: monitor_change_definition
-- $6, $7: what ticks up to this one go by, where another one than is known.
update monitor
set struct = coalesce($2::json, struct), struct_version = $3, field_versions = coalesce($4::json, field_versions),
    subject_type = coalesce($5::smallint, subject_type), former_tick_id = coalesce($6::bigint, former_tick_id),
    former = coalesce($7::json, former)
where id = $1

-- name: monitor_change_tier
with changed as (update monitor set tier = $2 where id = $1)
update monitor_sched set tier = $2 where monitor_id = $1

-- name: monitor_change_frequency
-- With the clock once the row is locked: a scheduler may have cut a slot since this transaction began.
update monitor_sched s
set frequency_s = $2
from (select frequency_s from monitor_sched where monitor_id = $1) old
where s.monitor_id = $1
returning old.frequency_s <> $2 as changed, s.live, s.anchor_at, s.next_run_at, clock_timestamp() as at

-- name: monitor_specs
select :spec_columns
from monitor m
:spec_of_monitor
where m.id = any($1::uuid[])

-- name: monitor_touch
update monitor set updated_at = now() where id = $1

-- name: monitor_lock
select m.org_id, m.status, m.disabled_reason
from monitor m
where m.id = $1 and ($2::uuid is null or m.org_id = $2) and ($3::uuid is null or m.team_id = $3)
for no key update

-- name: monitor_set_status
update monitor
set status = $2::smallint, disabled_reason = $3, control_changed_at = now(), updated_at = now(),
    archived_at = case when $2::smallint = :status_active then null else archived_at end
where id = $1

-- name: monitor_archive
update monitor set archived_at = coalesce(archived_at, now()), updated_at = now() where id = $1
