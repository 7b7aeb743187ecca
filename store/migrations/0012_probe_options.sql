-- How the pages of a monitor are read, where it says so itself: {"render", "wait_for"} (domain/monitor/probe_options.h).
-- Processes of the version before read them as the tier says.
alter table monitor add column probe json;

-- What is shown of a monitor: with its times (0004_schedules.sql), its tags and this, and without what was deleted
-- (0010_tags_and_deletion.sql). The new columns are the last ones.
create or replace view monitor_shown as
select m.id, m.org_id, m.team_id, m.name, m.frequency, m.tier, m.subject_type, m.status, m.disabled_reason,
       m.key_columns, m.struct, m.research_plan, m.metadata, m.webhook_url, m.webhook_event_types, m.confirm_after,
       m.missing_confirmations, m.run_id, m.created_at, m.updated_at,
       s.frequency_s, s.next_run_at, s.last_run_at, s.row_count, s.active_row_count,
       not o.monitors_run as organisation_stopped,
       coalesce(e.failing, false) as webhook_failing,
       case when m.status = 2 and not o.monitors_run then 3 else m.status end as shown_status,
       m.struct_version, m.field_versions, m.archived_at, s.failing_since, s.removed_row_count,
       m.rules, coalesce(m.request_header_names, '{}') as request_header_names,
       coalesce(a.balance_mc, 0) as balance_mc,
       t.spend_limit_mc - coalesce(ts.spent_mc, 0) as team_left_mc,
       case when e.available_at > '-infinity' then e.available_at end as webhook_waiting_until,
       s.anchor_at, s.schedule, coalesce(m.tags, '{}') as tags, m.probe
from monitor m
join monitor_sched s on s.monitor_id = m.id
join organisation o on o.id = m.org_id
left join endpoint e on e.id = m.endpoint_id
left join account a on a.org_id = m.org_id
left join team t on t.id = m.team_id
left join team_spend ts on ts.team_id = m.team_id and ts.month = date_trunc('month', now() at time zone 'UTC')::date
where m.deleted_at is null;
