-- Lists of monitors that read what they show, however many monitors there are.

-- The newest of a status, archived ones apart: of an organisation, of a team, and of everybody. None of these columns
-- changes but where control_changed_at does, too. No other index has this order, so that no plan walks one of those.
create index monitor_org_status on monitor (org_id, status, (archived_at is not null), id desc nulls last);
create index monitor_team_status on monitor (team_id, status, (archived_at is not null), id desc nulls last)
  where team_id is not null;
create index monitor_status on monitor (status, (archived_at is not null), id desc nulls last);

-- An organisation's monitors that fail. One that works is in no such index.
create index monitor_sched_org_failing on monitor_sched (org_id, monitor_id desc) where failing_since is not null;
