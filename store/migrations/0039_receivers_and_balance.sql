-- Receivers by path, and no longer by host and port: one path that fails slows nothing else of its host. The host of an
-- endpoint is followed by a digest of the path (which may hold a secret), where there is one: so what is unique stays
-- unique for the version before, which goes on making endpoints by host alone. Those are worse, and not wrong.
create or replace function endpoint_host(host text, path text) returns text language sql stable as $$
  select case when path in ('', '/') then host
              else host || '/' || substring(encode(sha256(convert_to(path, 'UTF8')), 'hex') for 32) end
$$;

create table receiver_by_path as
select m.id as monitor_id, m.endpoint_id as former_id, e.org_id, e.scheme, e.port,
       endpoint_host(e.host, substring(m.webhook_url from '^[^:]*://[^/?]*([^?]*)')) as host
from monitor m
join endpoint e on e.id = m.endpoint_id;
delete from receiver_by_path r using endpoint e where e.id = r.former_id and e.host = r.host;

-- What is known of the host holds until the path shows itself: where it works, its first answer says so.
insert into endpoint (id, org_id, scheme, host, port, available_at, failures, failing_since, failed_at)
select gen_random_uuid(), r.org_id, r.scheme, r.host, r.port, e.available_at, e.failures, e.failing_since, e.failed_at
from (select distinct on (org_id, scheme, host, port) * from receiver_by_path) r
join endpoint e on e.id = r.former_id
on conflict (org_id, scheme, host, port) do nothing;

update monitor m set endpoint_id = e.id
from receiver_by_path r
join endpoint e on e.org_id = r.org_id and e.scheme = r.scheme and e.host = r.host and e.port = r.port
where m.id = r.monitor_id and m.endpoint_id = r.former_id;

update delivery d set endpoint_id = m.endpoint_id
from monitor m, receiver_by_path r
where m.id = r.monitor_id and d.monitor_id = m.id and d.endpoint_id = r.former_id and m.endpoint_id is not null;

drop table receiver_by_path;

-- With what its organisation has and its team may still spend, which say whether its checks can be paid, and since when
-- on its receiver is tried again, where that is left alone.
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
       case when e.available_at > '-infinity' then e.available_at end as webhook_waiting_until
from monitor m
join monitor_sched s on s.monitor_id = m.id
join organisation o on o.id = m.org_id
left join endpoint e on e.id = m.endpoint_id
left join account a on a.org_id = m.org_id
left join team t on t.id = m.team_id
left join team_spend ts on ts.team_id = m.team_id and ts.month = date_trunc('month', now() at time zone 'UTC')::date;
