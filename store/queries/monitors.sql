-- fragment: monitor_columns
-- The columns of monitor_shown.
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
where id = @monitor_id and (@org_id::uuid is null or org_id = @org_id)
  and (@team_id::uuid is null or team_id = @team_id)

-- name: monitor_list_org
select :monitor_columns, bytes_until from (
  select m.*, b.bytes, sum(b.bytes) over (order by m.id desc rows unbounded preceding) as bytes_until
  from (
    select * from monitor_shown
    where org_id = @org_id and id < @before and (@with_archived::boolean or archived_at is null)
      and (not @only_failing::boolean or failing_since is not null)
      and (@team_id::uuid is null or team_id = @team_id)
      and (@statuses::int[] is null or shown_status = any (@statuses))
      and (@text::text is null or position(lower(@text) in lower(name)) > 0 or id::text = lower(@text))
    order by id desc
    limit @limit
  ) m
  cross join lateral (select :monitor_bytes as bytes) b
) page
where bytes_until - bytes < @bytes_max
order by id desc

-- name: monitor_list_all
select :monitor_columns, bytes_until from (
  select m.*, b.bytes, sum(b.bytes) over (order by m.id desc rows unbounded preceding) as bytes_until
  from (
    select * from monitor_shown
    where id < @before and (@with_archived::boolean or archived_at is null)
      and (not @only_failing::boolean or failing_since is not null)
      and (@statuses::int[] is null or shown_status = any (@statuses))
      and (@text::text is null or position(lower(@text) in lower(name)) > 0 or id::text = lower(@text))
    order by id desc
    limit @limit
  ) m
  cross join lateral (select :monitor_bytes as bytes) b
) page
where bytes_until - bytes < @bytes_max
order by id desc

-- name: monitor_list_run
select :monitor_columns, bytes_until from (
  select m.*, b.bytes, sum(b.bytes) over (order by m.id desc rows unbounded preceding) as bytes_until
  from (
    select * from monitor_shown
    where org_id = @org_id and run_id = @run_id and id < @before and (@with_archived::boolean or archived_at is null)
      and (not @only_failing::boolean or failing_since is not null)
      and (@team_id::uuid is null or team_id = @team_id)
      and (@statuses::int[] is null or shown_status = any (@statuses))
    order by id desc
    limit @limit
  ) m
  cross join lateral (select :monitor_bytes as bytes) b
) page
where bytes_until - bytes < @bytes_max
order by id desc

-- name: monitor_insert
insert into monitor (id, org_id, team_id, name, frequency, tier, subject_type, status, key_columns, struct,
                     research_plan, metadata, webhook_url, webhook_event_types, endpoint_id, confirm_after,
                     missing_confirmations, run_id, rules, request_headers, request_headers_key_id,
                     request_header_names, channel_ids)
values (@id, @org_id, @team_id, @name, @frequency, @tier, @subject_type, @status, @key_columns, @struct::json,
        @research_plan, @metadata::json, @webhook_url, @webhook_event_types, @endpoint_id, @confirm_after,
        @missing_confirmations, @run_id, @rules::json, @request_headers::bytea, @request_headers_key_id,
        @request_header_names::text[], @channel_ids::uuid[])

-- name: monitor_sched_insert
insert into monitor_sched (monitor_id, org_id, team_id, tier, live, frequency_s, anchor_at, next_run_at, row_count,
                           active_row_count)
values (@monitor_id, @org_id, @team_id, @tier, @live, @frequency_s, now(), now(), @row_count, @row_count)

-- name: monitor_change
update monitor
set name = coalesce(@name, name),
    webhook_url = case when @sets_webhook::boolean then @webhook_url else webhook_url end,
    endpoint_id = case when @sets_webhook then @endpoint_id::uuid else endpoint_id end,
    metadata = case when @sets_metadata::boolean then @metadata::json else metadata end,
    research_plan = case when @sets_research_plan::boolean then @research_plan else research_plan end,
    frequency = coalesce(@frequency, frequency),
    confirm_after = coalesce(@confirm_after::int, confirm_after),
    missing_confirmations = coalesce(@missing_confirmations::int, missing_confirmations),
    rules = case when @sets_rules::boolean then @rules::json else rules end,
    request_headers = case when @sets_request_headers::boolean then @request_headers::bytea else request_headers end,
    request_headers_key_id = case when @sets_request_headers then @request_headers_key_id
                                  else request_headers_key_id end,
    request_header_names = case when @sets_request_headers then @request_header_names::text[]
                                else request_header_names end,
    channel_ids = case when @sets_channels::boolean then @channel_ids::uuid[] else channel_ids end,
    updated_at = now()
where id = @monitor_id

-- name: monitor_definition
-- With the schedule locked: no tick opens between this and what is made of it.
select m.struct, m.struct_version, m.field_versions, m.subject_type, m.former_tick_id, s.open_tick_id
from monitor m join monitor_sched s on s.monitor_id = m.id
where m.id = @monitor_id
for update of s

-- name: monitor_change_definition
-- @former_tick_id, @former: what ticks up to this one go by, where another one than is known.
update monitor
set struct = coalesce(@struct::json, struct), struct_version = @struct_version,
    field_versions = coalesce(@field_versions::json, field_versions),
    subject_type = coalesce(@subject_type::smallint, subject_type),
    former_tick_id = coalesce(@former_tick_id::bigint, former_tick_id),
    former = coalesce(@former::json, former)
where id = @monitor_id

-- name: monitor_change_tier
with changed as (update monitor set tier = @tier where id = @monitor_id)
update monitor_sched set tier = @tier where monitor_id = @monitor_id

-- name: monitor_change_frequency
-- With the clock once the row is locked: a scheduler may have cut a slot since this transaction began.
update monitor_sched s
set frequency_s = @frequency_s
from (select frequency_s from monitor_sched where monitor_id = @monitor_id) old
where s.monitor_id = @monitor_id
returning old.frequency_s <> @frequency_s as changed, s.live, s.anchor_at, s.next_run_at, clock_timestamp() as at

-- name: monitor_specs
select :spec_columns
from monitor m
:spec_of_monitor
where m.id = any(@ids::uuid[])

-- name: monitor_touch
update monitor set updated_at = now() where id = @monitor_id

-- name: monitor_lock
select m.org_id, m.status, m.disabled_reason
from monitor m
where m.id = @monitor_id and (@org_id::uuid is null or m.org_id = @org_id)
  and (@team_id::uuid is null or m.team_id = @team_id)
for no key update

-- name: monitor_set_status
update monitor
set status = @status::smallint, disabled_reason = @disabled_reason, control_changed_at = now(), updated_at = now(),
    archived_at = case when @status::smallint = :status_active then null else archived_at end
where id = @monitor_id

-- name: monitor_archive
update monitor set archived_at = coalesce(archived_at, now()), updated_at = now() where id = @monitor_id
