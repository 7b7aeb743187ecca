-- fragment: workflow_columns
-- The columns of a workflow w.
w.id, w.org_id, w.name, w.description, w.caller_kind, w.caller_id, w.on_behalf_of, w.created_at, w.updated_at,
  (select j.created_at from job j where j.workflow_id = w.id and j.kind = :kind_workflow
   order by j.created_at desc, j.id desc limit 1) as last_run_at

-- name: workflow_count
-- Up to @per_org_max.
select count(*) from (select from workflow where org_id = @org_id and deleted_at is null limit @per_org_max) w

-- name: workflow_insert
insert into workflow (id, org_id, name, description, definition, caller_kind, caller_id, on_behalf_of)
values (@id, @org_id, @name, @description, @definition::json, @caller_kind, @caller_id, @on_behalf_of)
on conflict (id) do nothing
returning id

-- name: workflow_get
-- @deleted_too: a deleted one, too.
select :workflow_columns, w.definition from workflow w
where w.id = @id and w.org_id = @org_id and (@deleted_too or w.deleted_at is null)

-- name: workflow_to_run
-- What a run needs: when the workflow ran last would cost more than all of it.
select id, name, definition from workflow where id = @id and org_id = @org_id and deleted_at is null

-- name: workflow_list
-- @org_id organisation; @after_at, @after time and id of the last one of the page before, null before the first; @limit
-- limit; @bytes_max bytes of the page, which ends with the one with which it has them
select :workflow_columns, w.bytes_until from (
  select w.*, sum(w.bytes) over (order by w.created_at desc, w.id desc rows unbounded preceding) as bytes_until
  from (
    select *, octet_length(name) + octet_length(description) as bytes from workflow
    where org_id = @org_id and deleted_at is null
      and (created_at, id) < (coalesce(@after_at::timestamptz, 'infinity'),
                              coalesce(@after::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff'))
    order by created_at desc, id desc
    limit @limit
  ) w
) w
where w.bytes_until - w.bytes < @bytes_max
order by w.created_at desc, w.id desc

-- name: workflow_update
update workflow
set name = coalesce(@name, name), description = coalesce(@description, description),
    definition = coalesce(@definition_json::json, definition), updated_at = greatest(now(), updated_at)
where id = @id and org_id = @org_id and deleted_at is null
returning id

-- name: workflow_delete
update workflow set deleted_at = now(), updated_at = greatest(now(), updated_at)
where id = @id and org_id = @org_id and deleted_at is null
returning id

-- fragment: workflow_schedule_columns
-- The columns of a schedule s.
s.id, s.org_id, s.workflow_id, s.name, s.frequency, s.frequency_s, s.schedule, s.anchor_at, s.overlap, s.catch_up_s,
  s.specs_override, coalesce(s.channel_ids, '{}') as channel_ids, s.is_active, s.paused_reason, s.paused_message, s.next_at, s.created_at, s.updated_at, s.version

-- name: workflow_schedule_lock_org
-- Two requests of an organisation make no more schedules together than each alone.
select from organisation where id = @org_id for no key update

-- name: workflow_hold
-- A schedule of a workflow that is being deleted waits for the deletion, or this for the schedule.
select from workflow where id = @id and org_id = @org_id and deleted_at is null for share

-- name: workflow_schedule_lock
select version from workflow_schedule where id = @id and org_id = @org_id and workflow_id = @workflow_id for update

-- name: workflow_schedule_now
-- Behind that lock: times go on from here, as every slot before it was decided about or is due still.
select clock_timestamp()

-- name: workflow_schedule_count
select count(*)::int from (select from workflow_schedule where org_id = @org_id limit @limit) counted

-- name: workflow_schedule_insert
insert into workflow_schedule as s (id, org_id, team_id, workflow_id, name, frequency, frequency_s, schedule, anchor_at,
                                    overlap, catch_up_s, specs_override, webhook_payload, channel_ids, is_active,
                                    caller_kind, caller_id, on_behalf_of, next_at, look_at)
values (@id, @org_id, @team_id, @workflow_id, @name, @frequency, @frequency_s, @schedule::json, @anchor_at, @overlap,
        @catch_up_s, @specs_override::json, @webhook_payload::json, nullif(@channel_ids::uuid[], '{}'), @is_active,
        @caller_kind, @caller_id, @on_behalf_of, @next_at::timestamptz, @next_at::timestamptz)
returning :workflow_schedule_columns, s.webhook_payload

-- name: workflow_schedule_list
-- Newest first. An organisation has few.
select :workflow_schedule_columns
from workflow_schedule s
where s.org_id = @org_id and s.workflow_id = @workflow_id
order by s.id desc

-- name: workflow_schedule_get
select :workflow_schedule_columns, s.webhook_payload
from workflow_schedule s
where s.id = @id and s.org_id = @org_id and s.workflow_id = @workflow_id

-- name: workflow_schedule_find
-- For the operator, who sees those of every organisation.
select :workflow_schedule_columns, s.webhook_payload
from workflow_schedule s
where s.id = @id

-- name: workflow_schedule_page
-- Newest first, of every organisation or one, and of every workflow or one.
select :workflow_schedule_columns
from workflow_schedule s
where (@org_id::uuid is null or s.org_id = @org_id) and (@workflow_id::uuid is null or s.workflow_id = @workflow_id)
  and (@is_active::boolean is null or s.is_active = @is_active) and (@before::uuid is null or s.id < @before)
order by s.id desc
limit @limit

-- name: workflow_schedule_resume
-- But one whose team was deleted: its runs would be that team's.
with asked as materialized (
  select s.id, s.is_active,
         s.team_id is not null and not exists (
           select from team t where t.org_id = s.org_id and t.id = s.team_id and t.deleted_at is null for share)
           as team_deleted
  from workflow_schedule s
  where s.id = @id for update of s
), resumed as (
  update workflow_schedule s
  set is_active = true, paused_reason = null, paused_message = null, version = version + 1, look_at = now(),
      updated_at = greatest(now(), updated_at)
  from asked a
  where s.id = a.id and not a.is_active and not a.team_deleted
)
select is_active, team_deleted from asked

-- name: workflow_schedule_update
-- What is null stays as it is; override and payload but where @sets_override and @sets_payload. With other times
-- (@frequency) a slot that is due at @now stays due. Who changes it is for whom it runs from then on.
update workflow_schedule s
set name = coalesce(@name, name), frequency = coalesce(@frequency, frequency),
    frequency_s = coalesce(@frequency_s, frequency_s),
    schedule = case when @frequency::text is null then schedule else @schedule::json end,
    anchor_at = coalesce(@anchor_at::timestamptz, anchor_at),
    next_at = case when @next_at::timestamptz is null or next_at <= @now::timestamptz then next_at
                   else @next_at::timestamptz end,
    overlap = coalesce(@overlap, overlap), catch_up_s = coalesce(@catch_up_s, catch_up_s),
    specs_override = case when @sets_override::boolean then @specs_override::json else specs_override end,
    webhook_payload = case when @sets_payload::boolean then @webhook_payload::json else webhook_payload end,
    channel_ids = case when @sets_channels::boolean then nullif(@channel_ids::uuid[], '{}') else channel_ids end,
    is_active = coalesce(@is_active::boolean, is_active),
    paused_reason = case when @is_active::boolean is null then paused_reason end,
    paused_message = case when @is_active::boolean is null then paused_message end,
    team_id = @team_id, caller_kind = @caller_kind, caller_id = @caller_id, on_behalf_of = @on_behalf_of,
    version = version + 1, look_at = now(), updated_at = greatest(now(), updated_at)
where s.id = @id and s.org_id = @org_id and s.workflow_id = @workflow_id
returning :workflow_schedule_columns, s.webhook_payload

-- name: workflow_schedule_delete
delete from workflow_schedule where id = @id and org_id = @org_id and workflow_id = @workflow_id returning id

-- name: workflow_schedule_pause
-- One, or all of a workflow.
update workflow_schedule
set is_active = false, paused_reason = @reason, paused_message = @message, version = version + 1,
    updated_at = greatest(now(), updated_at)
where id = @id::uuid or workflow_id = @workflow_id::uuid

-- name: workflow_schedule_claim
-- One schedule that is to be looked at; nobody else does so for @lease_ms.
with due as materialized (
  select id from workflow_schedule where look_at <= now() order by look_at limit 1 for update skip locked
)
update workflow_schedule s set look_at = now() + @lease_ms * interval '1 millisecond' from due d where s.id = d.id
returning s.id

-- name: workflow_schedule_due
-- What is decided by, as of after the claim: the slots of one schedule follow each other, so that the run of the one
-- before is seen here.
select s.id, s.org_id, s.team_id, s.workflow_id, s.frequency_s, s.schedule, s.anchor_at, s.overlap, s.catch_up_s,
       s.specs_override, s.webhook_payload, s.is_active and not o.locked as is_active, s.caller_kind, s.caller_id,
       s.on_behalf_of, s.next_at, s.waiting_slot, s.version, o.features,
       exists (select from job j where j.schedule_id = s.id and j.finished_at is null) as run_open, now() as now
from workflow_schedule s
join organisation o on o.id = s.org_id
where s.id = @id

-- name: workflow_schedule_rest
-- Nothing is to be done: it is looked at again at its next slot, and every @wait_ms while a slot waits.
update workflow_schedule
set look_at = case when waiting_slot is null then next_at
                   else least(next_at, now() + @wait_ms * interval '1 millisecond') end
where id = @id and version = @version

-- name: workflow_schedule_next_look
select now(), (select min(look_at) from workflow_schedule) as next_look

-- name: workflow_slot_decide
-- What becomes of a slot. The schedule moves on to @next_at, or from the slot that waits, where it is still what it was
-- when it was read: else nothing happens.
with moved as (
  update workflow_schedule s
  set next_at = case when @was_waiting::boolean then next_at else @next_at::timestamptz end,
      waiting_slot = case when @state::smallint = :slot_waiting then @slot::timestamptz
                          when not @was_waiting::boolean then waiting_slot end,
      look_at = now()
  where s.id = @schedule_id and s.version = @version
    and case when @was_waiting::boolean then s.waiting_slot else s.next_at end = @slot::timestamptz
  returning s.id
)
-- Channels are asked at its end whether they are told: notice_slots.
insert into workflow_slot (schedule_id, slot, state, reason, slots, run_id, told)
select m.id, @slot::timestamptz, @state::smallint, @reason::text, @slots::bigint, @run_id::uuid, false from moved m
on conflict (schedule_id, slot) do update
  set state = excluded.state, reason = excluded.reason, run_id = excluded.run_id, decided_at = now()
returning schedule_id

-- name: workflow_slots_prune
-- All but the newest @kept, and those that wait or of which channels are still to be told: no more than the schedule has
-- runs that go on, and what the scheduler has not come to.
delete from workflow_slot
where schedule_id = @schedule_id and told and state <> :slot_waiting
  and slot < (select slot from workflow_slot where schedule_id = @schedule_id order by slot desc
              offset @kept::int - 1 limit 1)

-- name: workflow_slot_list
-- Newest first.
select slot, state, reason, slots, run_id, decided_at
from workflow_slot
where schedule_id = @schedule_id
order by slot desc
limit @limit

-- name: template_get
select id, document, created_at, updated_at from workflow_template where org_id = @org_id and id = @id

-- name: template_list
-- @org_id organisation; @after the last id of the page before; @category category, @tag tag; @limit limit
select id, document, created_at, updated_at from workflow_template t
where org_id = @org_id and id > @after
  and not (document ->> 'internal')::boolean
  and (@category::text is null or document ->> 'category' = @category)
  and (@tag::text is null
       or exists (select from json_array_elements_text(t.document -> 'tags') as g(tag) where g.tag = @tag))
order by id
limit @limit

-- name: template_count
-- Up to @per_org_max.
select count(*) from (select from workflow_template where org_id = @org_id limit @per_org_max) t

-- name: template_insert
insert into workflow_template (id, org_id, slug, document) values (@id, @org_id, @slug, @document::json)
on conflict (org_id, slug) do nothing
returning id

-- name: template_delete
delete from workflow_template where org_id = @org_id and id = @id
returning id
