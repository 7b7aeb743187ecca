-- What is known of a row stays readable and can be mended (docs/decisions/0021). Everything here is an addition: binaries
-- before it work on beside it.

-- Where each present value of a row comes from: {field: {"since", "evidence", "sources", "confidence", "of"}}, where `of`
-- is the value's fingerprint (domain/current_values.h), or null for a field that was looked for and never observed. An
-- older binary does not write it, so that a value without its own fingerprint here has no facts.
alter table monitor_row add column seen jsonb;
-- Of monitor.struct_version: what the row's values were observed with. A field that has changed since is forgotten.
alter table monitor_row add column struct_version int not null default 0;
alter table monitor_row add column removed_at timestamptz;

-- Counts the changes of struct; field_versions says at which one each field last changed or left.
alter table monitor add column struct_version int not null default 0;
alter table monitor add column field_versions json;
-- What ticks up to former_tick_id still go by: the one that was open when struct or subject_type changed.
alter table monitor add column former_tick_id bigint;
alter table monitor add column former json;
alter table monitor add column archived_at timestamptz;

-- Since the start of the first of the last ticks in which every check that was made failed; null = a check completed.
alter table monitor_sched add column failing_since timestamptz;
create index monitor_sched_failing on monitor_sched (monitor_id) where failing_since is not null;
alter table monitor_sched add column removed_row_count int not null default 0 check (removed_row_count >= 0);

-- Events of a whole monitor and of an organisation, newest first.
create index event_monitor on event (monitor_id, tick_id, id);
create index event_org on event (org_id, tick_id, id);

create or replace view monitor_shown as
select m.id, m.org_id, m.team_id, m.name, m.frequency, m.tier, m.subject_type, m.status, m.disabled_reason,
       m.key_columns, m.struct, m.research_plan, m.metadata, m.webhook_url, m.webhook_event_types, m.confirm_after,
       m.missing_confirmations, m.run_id, m.created_at, m.updated_at,
       s.frequency_s, s.next_run_at, s.last_run_at, s.row_count, s.active_row_count,
       not o.monitors_run as organisation_stopped,
       coalesce(e.failing, false) as webhook_failing,
       case when m.status = 2 and not o.monitors_run then 3 else m.status end as shown_status,
       m.struct_version, m.field_versions, m.archived_at, s.failing_since, s.removed_row_count
from monitor m
join monitor_sched s on s.monitor_id = m.id
join organisation o on o.id = m.org_id
left join endpoint e on e.id = m.endpoint_id;
