-- fragment: monitor_columns
-- The columns of monitor_shown.
id, org_id, team_id, name, frequency, frequency_s, tier, subject_type, status, disabled_reason, key_columns, struct,
  research_plan, metadata, webhook_url, webhook_event_types, confirm_after, missing_confirmations, run_id, created_at,
  updated_at, next_run_at, last_run_at, row_count, active_row_count, organisation_stopped, webhook_failing,
  struct_version, field_versions, archived_at, failing_since, removed_row_count, rules, request_header_names,
  balance_mc, team_left_mc, webhook_waiting_until, anchor_at, schedule, tags, probe

-- fragment: monitor_bytes
-- What a monitor m adds to a page.
octet_length(m.name) + octet_length(m.struct::text) + coalesce(octet_length(m.metadata::text), 0)
  + coalesce(octet_length(m.rules::text), 0) + coalesce(octet_length(m.probe::text), 0)
  + coalesce(octet_length(m.research_plan), 0) + coalesce(octet_length(m.webhook_url), 0) + pg_column_size(m.tags)

-- name: monitor_get
select :monitor_columns from monitor_shown
where id = @monitor_id and (@org_id::uuid is null or org_id = @org_id)
  and (@team_id::uuid is null or team_id = @team_id)

-- fragment: monitor_page_begin
-- What stands between this and monitor_page_end are the monitors m of a page, of monitor_shown.
select :monitor_columns, bytes_until from (
  select m.*, b.bytes, sum(b.bytes) over (order by m.id desc rows unbounded preceding) as bytes_until
  from (

-- fragment: monitor_page_end
  ) m
  cross join lateral (select :monitor_bytes as bytes) b
) page
where bytes_until - bytes < @bytes_max
order by id desc

-- fragment: monitor_kinds
-- The statuses that are stored, archived monitors apart. Each kind is read by an index, newest first, so that a list
-- reads what it shows, however rare that is: `nulls last` is the order of these indexes alone.
(values (0::smallint), (1::smallint), (2::smallint), (3::smallint), (4::smallint)) w (status)
    cross join (values (false), (true)) a (archived)

-- name: monitor_list_org
:monitor_page_begin
    select shown.* from (
      select kind.id
      from organisation o
      cross join :monitor_kinds
      cross join lateral (
        (select m.id from monitor m
         where @team_id::uuid is null
           and m.org_id = o.id and m.status = w.status and (m.archived_at is not null) = a.archived and m.id < @before
           and m.deleted_at is null
         order by m.id desc nulls last
         limit @limit)
        union all
        (select m.id from monitor m
         where m.team_id = @team_id and m.org_id = o.id
           and m.status = w.status and (m.archived_at is not null) = a.archived and m.id < @before
           and m.deleted_at is null
         order by m.id desc nulls last
         limit @limit)
      ) kind
      where o.id = @org_id and (@with_archived::boolean or not a.archived)
        and (@statuses::int[] is null
             or case when w.status = :status_active and not o.monitors_run then :status_paused
                     else w.status end = any (@statuses))
      order by kind.id desc
      limit @limit
    ) listed
    join monitor_shown shown on shown.id = listed.id
:monitor_page_end

-- name: monitor_list_all
-- An active monitor of an organisation that is stopped is shown as paused.
:monitor_page_begin
    select shown.* from (
      select id from (
        select kind.id
        from :monitor_kinds
        cross join lateral (
          select m.id from monitor m
          where m.status = w.status and (m.archived_at is not null) = a.archived and m.id < @before
            and m.deleted_at is null
            and (w.status <> :status_active or @statuses::int[] is null or :status_paused = any (@statuses)
                 or exists (select from organisation o where o.id = m.org_id and o.monitors_run))
          order by m.id desc nulls last
          limit @limit
        ) kind
        where (@with_archived::boolean or not a.archived) and (@statuses is null or w.status = any (@statuses))
        union all
        select stopped.id
        from organisation o
        cross join (values (false), (true)) a (archived)
        cross join lateral (
          select m.id from monitor m
          where m.org_id = o.id and m.status = :status_active and (m.archived_at is not null) = a.archived
            and m.id < @before and m.deleted_at is null
          order by m.id desc nulls last
          limit @limit
        ) stopped
        where not o.monitors_run and (@with_archived or not a.archived)
          and :status_paused = any (@statuses) and not :status_active = any (@statuses)
      ) either
      order by id desc
      limit @limit
    ) listed
    join monitor_shown shown on shown.id = listed.id
:monitor_page_end

-- fragment: monitor_passes
-- Whether the filters of the lists let a row of monitor_shown pass.
(@with_archived::boolean or archived_at is null)
and (not @only_failing::boolean or failing_since is not null)
and (@team_id::uuid is null or team_id = @team_id)
and (@statuses::int[] is null or shown_status = any (@statuses))

-- fragment: monitor_chosen
-- Those of the ids f, newest first, that the filters let pass.
cross join lateral (
      select * from monitor_shown
      where id = f.id and :monitor_passes
      offset 0
    ) m
    order by f.id desc
    limit @limit

-- name: monitor_list_org_failing
:monitor_page_begin
    select m.* from (
      select monitor_id as id from monitor_sched
      where org_id = @org_id and failing_since is not null and monitor_id < @before
      order by monitor_id desc
      offset 0
    ) f
    :monitor_chosen
:monitor_page_end

-- name: monitor_list_all_failing
:monitor_page_begin
    select m.* from (
      select monitor_id as id from monitor_sched
      where failing_since is not null and monitor_id < @before
      order by monitor_id desc
      offset 0
    ) f
    :monitor_chosen
:monitor_page_end

-- name: monitor_list_named
-- Looks at the names of the newest @look_max, of an organisation where one is given.
:monitor_page_begin
    select m.* from (
      select id from (
        select id from (
          (select id, name from monitor
           where @org_id::uuid is not null and org_id = @org_id and id < @before
           order by id desc
           limit @look_max)
          union all
          (select id, name from monitor
           where @org_id is null and id < @before
           order by id desc
           limit @look_max)
        ) looked
        where position(lower(@text) in lower(name)) > 0
        union
        select id from monitor
        where id = @text_id::uuid and id < @before and (@org_id is null or org_id = @org_id)
      ) found
      order by id desc
      offset 0
    ) f
    :monitor_chosen
:monitor_page_end

-- name: monitor_look_end
-- The last one that monitor_list_named looks at; none where it looks at all that there are.
select id from (
  (select id from monitor
   where @org_id::uuid is not null and org_id = @org_id and id < @before
   order by id desc
   offset @look_max - 1
   limit 1)
  union all
  (select id from monitor
   where @org_id is null and id < @before
   order by id desc
   offset @look_max - 1
   limit 1)
) last

-- fragment: monitors_sought
-- The newest @look_max of the organisation, or of those with all @tags.
      (select id, name from monitor
       where @tags::text[] is null and org_id = @org_id and id < @before
       order by id desc
       limit @look_max)
      union all
      (select id, name from monitor
       where @tags is not null and tags is not null
         and monitor_tag_keys(org_id, tags) @> monitor_tag_keys(@org_id, @tags) and id < @before
       order by id desc
       limit @look_max)

-- name: monitor_list_sought
-- Looks at those of monitors_sought. One is fresh whose last tick began no longer ago than its slots are apart.
:monitor_page_begin
    select m.* from (
      select id from (
        :monitors_sought
      ) looked
      where @text::text is null or position(lower(@text) in lower(name)) > 0
      order by id desc
      offset 0
    ) f
    cross join lateral (
      select * from monitor_shown
      where id = f.id and :monitor_passes
        and (@fresh::boolean is null
             or @fresh = coalesce(last_run_at >= now() - coalesce((schedule ->> 'longest_s')::bigint, frequency_s)
                                                         * interval '1 second', false))
      offset 0
    ) m
    order by f.id desc
    limit @limit
:monitor_page_end

-- name: monitor_sought_end
-- The last one that monitor_list_sought looks at; none where it looks at all that there are.
select id from (
  :monitors_sought
) looked
order by id desc
offset @look_max - 1
limit 1

-- name: monitor_list_run
:monitor_page_begin
    select * from monitor_shown
    where org_id = @org_id and run_id = @run_id and id < @before and :monitor_passes
    order by id desc
    limit @limit
:monitor_page_end

-- name: monitor_insert
insert into monitor (id, org_id, team_id, name, frequency, tier, subject_type, status, key_columns, struct,
                     research_plan, metadata, webhook_url, webhook_event_types, endpoint_id, confirm_after,
                     missing_confirmations, run_id, rules, request_headers, request_headers_key_id,
                     request_header_names, channel_ids, tags, probe)
values (@id, @org_id, @team_id, @name, @frequency, @tier, @subject_type, @status, @key_columns, @struct::json,
        @research_plan, @metadata::json, @webhook_url, @webhook_event_types, @endpoint_id, @confirm_after,
        @missing_confirmations, @run_id, @rules::json, @request_headers::bytea, @request_headers_key_id,
        @request_header_names::text[], @channel_ids::uuid[], @tags::text[], @probe::json)

-- name: monitor_sched_insert
-- @anchor_at and @next_run_at: now where they are null, the anchor then by @lead_us earlier.
insert into monitor_sched (monitor_id, org_id, team_id, tier, live, frequency_s, anchor_at, next_run_at, row_count,
                           active_row_count, schedule)
values (@monitor_id, @org_id, @team_id, @tier, @live, @frequency_s,
        coalesce(@anchor_at::timestamptz, now() - @lead_us::bigint * interval '1 microsecond'),
        coalesce(@next_run_at::timestamptz, now()), @row_count, @row_count, @schedule::json)

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
    probe = case when @sets_probe::boolean then @probe::json else probe end,
    channel_ids = case when @sets_channels::boolean then @channel_ids::uuid[] else channel_ids end,
    tags = case when @sets_tags::boolean then @tags::text[] else tags end,
    updated_at = now()
where id = @monitor_id

-- name: monitor_definition
-- With the schedule locked: no tick opens between this and what is made of it. The last tick that a chunk held counts
-- as open: whether its chunk is there is not asked, as none is harmed if it is not.
select m.struct, m.struct_version, m.field_versions, m.subject_type, m.former_tick_id,
       coalesce(s.open_tick_id, case when s.chunk_id is not null then s.last_tick_id end) as open_tick_id
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
set frequency_s = @frequency_s, schedule = @schedule::json
from (select frequency_s, schedule::text from monitor_sched where monitor_id = @monitor_id) old
where s.monitor_id = @monitor_id
returning old.frequency_s <> @frequency_s or old.schedule is distinct from s.schedule::text as changed, s.live, s.anchor_at, s.next_run_at, clock_timestamp() as at

-- name: monitor_specs
-- One row for each monitor, by what it said when its tick began.
select m.id, m.org_id, :spec_columns, :open_tick_columns
from unnest(@ids::uuid[], @tick_ids::bigint[]) as p(monitor_id, tick_id)
join monitor m on m.id = p.monitor_id
join monitor_sched s on s.monitor_id = p.monitor_id
:spec_of_monitor

-- name: monitor_touch
update monitor set updated_at = now() where id = @monitor_id

-- name: monitor_lock
select m.org_id, m.status, m.disabled_reason, m.struct_version, m.updated_at
from monitor m
where m.id = @monitor_id and (@org_id::uuid is null or m.org_id = @org_id)
  and (@team_id::uuid is null or m.team_id = @team_id) and m.deleted_at is null
for no key update

-- name: monitor_set_status
update monitor
set status = @status::smallint, disabled_reason = @disabled_reason, control_changed_at = now(), updated_at = now(),
    archived_at = case when @status::smallint = :status_active then null else archived_at end
where id = @monitor_id

-- name: monitor_archive
update monitor set archived_at = coalesce(archived_at, now()), updated_at = now() where id = @monitor_id

-- name: monitor_delete
-- What it asked its pages with is a secret, and goes at once.
update monitor
set deleted_at = now(), archived_at = coalesce(archived_at, now()), updated_at = now(), request_headers = null,
    request_headers_key_id = null, request_header_names = null
where id = @monitor_id

-- name: monitor_login_clear
delete from monitor_login where monitor_id = @monitor_id

-- name: monitor_login_set
-- With another version, and without a session.
insert into monitor_login (monitor_id, org_id, secrets, secrets_key_id)
values (@monitor_id, @org_id, @secrets::bytea, @secrets_key_id)

-- name: monitor_login_read
select version, secrets, secrets_key_id, session, session_key_id
from monitor_login
where monitor_id = @monitor_id and org_id = @org_id

-- name: monitor_login_keep
update monitor_login
set session = @session::bytea, session_key_id = @session_key_id
where monitor_id = @monitor_id and org_id = @org_id and version = @version
returning monitor_id
