-- What the pages of monitors are acted on with (domain/monitor/page_steps.h): the secrets that their steps type, and the
-- session that the last page has left. A monitor has a row where it needs one. Processes of the version before make no
-- steps, and read its pages as they come.
create table monitor_login (
  monitor_id uuid primary key references monitor on delete cascade,
  org_id uuid not null,
  -- Another one with each change of the steps and the secrets: a session that began before is not kept.
  version uuid not null default gen_random_uuid(),
  -- A JSON object of names and values, sealed as request headers are.
  secrets bytea,
  secrets_key_id text,
  -- Cookies, sealed likewise, for this monitor alone.
  session bytea check (length(session) <= 131072),
  session_key_id text,
  check ((secrets is null) = (secrets_key_id is null)),
  check ((session is null) = (session_key_id is null))
);
create index monitor_login_key on monitor_login (secrets_key_id, monitor_id) where secrets is not null;
