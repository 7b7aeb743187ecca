-- Tags of monitors, and monitors that their owner has deleted.

-- Words of the owner's, each once; null = none.
alter table monitor add column tags text[];
alter table monitor add constraint monitor_tags check (cardinality(tags) between 1 and 20) not valid;

-- What an organisation's monitors with some tags are found by: each tag behind its organisation, so that nobody else's
-- monitors with the same tag are looked at.
create function monitor_tag_keys(org_id uuid, tags text[]) returns text[] language sql immutable as $$
  select array(select org_id::text || ' ' || tag from unnest(tags) tag)
$$;
create index monitor_tags on monitor using gin (monitor_tag_keys(org_id, tags)) where tags is not null;

-- Since when its owner has deleted it; null = never. It is archived, too, so that processes that do not know this
-- column leave it out of their lists.
alter table monitor add column deleted_at timestamptz;
alter table monitor add constraint monitor_deleted check (deleted_at is null or archived_at is not null) not valid;
create index monitor_deleted on monitor (deleted_at) where deleted_at is not null;

-- With the tags, and without what was deleted.
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
       s.anchor_at, s.schedule, coalesce(m.tags, '{}') as tags
from monitor m
join monitor_sched s on s.monitor_id = m.id
join organisation o on o.id = m.org_id
left join endpoint e on e.id = m.endpoint_id
left join account a on a.org_id = m.org_id
left join team t on t.id = m.team_id
left join team_spend ts on ts.team_id = m.team_id and ts.month = date_trunc('month', now() at time zone 'UTC')::date
where m.deleted_at is null;
