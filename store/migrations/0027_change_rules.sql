-- What a monitor tells of, and what it says to the pages that it asks for (docs/decisions/0033). Everything here is an
-- addition: binaries before it work on beside it, and tell of every change.

-- {field: {"only_if", "threshold", "ignore"}} (domain/change_rules.h); null = every change is told.
alter table monitor add column rules json;

-- Headers of the requests for a monitor's pages: a JSON object of names and values, sealed as signing secrets are, with
-- the monitor's id as associated text. Their names alone are shown.
alter table monitor add column request_headers bytea;
alter table monitor add column request_headers_key_id text;
alter table monitor add column request_header_names text[];
alter table monitor add check ((request_headers is null) = (request_headers_key_id is null)
                               and (request_headers is null) = (request_header_names is null));
create index monitor_request_headers on monitor (request_headers_key_id, id) where request_headers is not null;

create or replace view monitor_shown as
select m.id, m.org_id, m.team_id, m.name, m.frequency, m.tier, m.subject_type, m.status, m.disabled_reason,
       m.key_columns, m.struct, m.research_plan, m.metadata, m.webhook_url, m.webhook_event_types, m.confirm_after,
       m.missing_confirmations, m.run_id, m.created_at, m.updated_at,
       s.frequency_s, s.next_run_at, s.last_run_at, s.row_count, s.active_row_count,
       not o.monitors_run as organisation_stopped,
       coalesce(e.failing, false) as webhook_failing,
       case when m.status = 2 and not o.monitors_run then 3 else m.status end as shown_status,
       m.struct_version, m.field_versions, m.archived_at, s.failing_since, s.removed_row_count,
       m.rules, coalesce(m.request_header_names, '{}') as request_header_names
from monitor m
join monitor_sched s on s.monitor_id = m.id
join organisation o on o.id = m.org_id
left join endpoint e on e.id = m.endpoint_id;
