-- A receiver whose attempts have failed for 48 hours on end: shown to its client as webhook_failing, to the operator as
-- a gauge and in the overview. failed_at is the last failure, so that one failure long ago does not count.
alter table endpoint add column failed_at timestamptz;
update endpoint set failed_at = now() where failing_since is not null;
alter table endpoint add column failing boolean not null
  generated always as (coalesce(failed_at - failing_since >= interval '48 hours', false)) stored;
create index endpoint_failing on endpoint (failing_since) where failing;

create or replace view monitor_shown as
select m.id, m.org_id, m.team_id, m.name, m.frequency, m.tier, m.subject_type, m.status, m.disabled_reason,
       m.key_columns, m.struct, m.research_plan, m.metadata, m.webhook_url, m.webhook_event_types, m.confirm_after,
       m.missing_confirmations, m.run_id, m.created_at, m.updated_at,
       s.frequency_s, s.next_run_at, s.last_run_at, s.row_count, s.active_row_count,
       o.locked or not o.features @> array['monitors'] as organisation_stopped,
       coalesce(e.failing, false) as webhook_failing,
       case when m.status = 2 and (o.locked or not o.features @> array['monitors']) then 3 else m.status end
         as shown_status
from monitor m
join monitor_sched s on s.monitor_id = m.id
join organisation o on o.id = m.org_id
left join endpoint e on e.id = m.endpoint_id;
