-- The whole model, grouped by subject (docs/architecture.md):
--   organisations and money        deliveries
--   credentials                    email and what is known of people
--   receivers                      workflows
--   monitors and their schedule    search and investigations
--   rows and events                the fleet and its operators
--   chunks, ticks and leases       history by partitions
--   jobs
-- Times are timestamptz, money is integer millicredits (_mc), ids are UUIDv7 made by the process. The numbers in
-- smallint columns are enums of domain/, named where they stand; those without a name here are of domain/monitor/enums.h.

-- Organisations and money --------------------------------------------------------------------------------------------

-- A tenant. No other tenant sees anything of what it has (G8).
create table organisation (
  id uuid primary key,
  name text not null check (length(name) between 1 and 200),
  locked boolean not null default false,
  features text[] not null default '{}'
    check (features <@ array['monitors', 'testing_monitors', 'high_tier', 'xhigh']),
  created_at timestamptz not null default now(),
  -- When a flag last changed that decides whether checks may run; workers read what changed (G5).
  control_changed_at timestamptz not null default now(),
  -- Whether the organisation lets its monitors run: said once, here. (domain/monitor/enums.h kFeatureMonitors is the feature.)
  monitors_run boolean not null generated always as (not locked and 'monitors' = any(features)) stored,
  -- What a claim of the operator's identity provider may name the organisation by, beside its id.
  external_id text unique check (length(external_id) between 1 and 255)
);
create index organisation_control on organisation (control_changed_at);

-- Part of an organisation, with keys and a limit of its own. What refers to a deleted team stays.
create table team (
  id uuid primary key,
  org_id uuid not null references organisation,
  name text not null check (length(name) between 1 and 200),
  spend_limit_mc bigint check (spend_limit_mc >= 0),  -- per calendar month, UTC; null = none
  created_at timestamptz not null default now(),
  deleted_at timestamptz
);
create index team_org on team (org_id, id);

-- What a team's work has been admitted for in a month; given back where it was not charged.
create table team_spend (
  team_id uuid not null references team,
  month date not null,
  spent_mc bigint not null default 0 check (spent_mc >= 0),
  primary key (team_id, month)
);

-- The balance: balance_mc + sum(chunk.reserved_mc) + sum(job.reserved_mc) = sum(credit_entry.amount_mc), always (G4).
create table account (
  org_id uuid primary key references organisation,
  balance_mc bigint not null default 0 check (balance_mc >= 0)
);

-- The ledger, append only. A charge is negative, says for how many checks or rows it is, and has a tier (checks) or a
-- job; an entry without `checks` is a booking.
create table credit_entry (
  id bigint generated always as identity primary key,
  org_id uuid not null references organisation,
  team_id uuid,
  amount_mc bigint not null check (amount_mc <> 0),
  checks int check (checks > 0),
  tier smallint check (tier between 0 and 3),
  chunk_id uuid,
  reason text,
  created_at timestamptz not null default now(),
  job_id uuid,
  constraint credit_entry_check check (checks is null or (tier is null) <> (job_id is null)),
  constraint credit_entry_booking check (checks is not null or (tier is null and job_id is null)),
  constraint credit_entry_check1 check (checks is null or amount_mc < 0)
);
create index credit_entry_org on credit_entry (org_id, id);
-- Bookings are few beside charges: an organisation's `charged` is their sum less what is left.
create index credit_entry_booked on credit_entry (org_id) include (amount_mc) where checks is null;

-- Credentials --------------------------------------------------------------------------------------------------------

-- A key that a client sends as x-api-key. The key itself is nowhere.
create table api_key (
  id uuid primary key,
  org_id uuid not null references organisation,
  team_id uuid references team,
  name text not null check (length(name) between 1 and 200),
  prefix text not null,  -- the public part of the key, by which it is found
  key_sha256 bytea not null unique check (length(key_sha256) = 32),
  created_at timestamptz not null default now(),
  revoked_at timestamptz,
  last_used_at timestamptz  -- to the hour
);
create index api_key_prefix on api_key (prefix);
create index api_key_org on api_key (org_id, id);

-- A client of OAuth, which signs assertions with its keys and gets tokens for them (docs/authentication.md).
create table oauth_client (
  id uuid primary key,
  org_id uuid not null references organisation,
  team_id uuid references team,
  name text not null check (length(name) between 1 and 255),
  disabled boolean not null default false,
  deleted_at timestamptz,
  token_version int not null default 0,  -- tokens of an older version are void
  access_token_ttl_s int check (access_token_ttl_s between 60 and 86400),
  created_by_kind smallint check (created_by_kind between 0 and 3),  -- domain/auth/principal.h; null = the operator
  created_by_id uuid,
  created_by_label text not null,
  last_used_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  jwks_uri text check (length(jwks_uri) between 1 and 2083),  -- null = its keys are uploaded
  -- [{"kid", "alg", "key"}], the keys that can be used; "key" is SubjectPublicKeyInfo in base64url. null = never
  -- fetched.
  jwks json,
  jwks_fetched_at timestamptz,  -- when jwks came
  jwks_tried_at timestamptz,    -- when the last fetch began: it fences the fetches of the whole fleet
  jwks_ended_at timestamptz,    -- when the last fetch ended
  jwks_error text               -- of the last fetch; null = it succeeded
);
create index oauth_client_org on oauth_client (org_id, id desc) where deleted_at is null;

-- The keys that a client has uploaded.
create table oauth_client_key (
  client_id uuid not null references oauth_client,
  kid text not null check (length(kid) between 1 and 255),
  algorithm smallint not null check (algorithm between 0 and 3),  -- domain/auth/
  public_key bytea not null,  -- SubjectPublicKeyInfo
  created_at timestamptz not null default now(),
  revoked_at timestamptz,
  primary key (client_id, kid)
);

-- Tokens of clients and sessions of users. The token itself is nowhere.
create table access_token (
  token_sha256 bytea primary key check (length(token_sha256) = 32),
  id uuid not null unique,
  kind smallint not null check (kind between 1 and 2),  -- domain/auth/principal.h
  org_id uuid not null references organisation,
  team_id uuid references team,
  principal_id uuid not null,
  principal_version int not null default 0,
  user_id text,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  check ((kind = 2) = (user_id is not null))
);
create index access_token_principal on access_token (principal_id, expires_at);
create index access_token_expires on access_token (expires_at);
-- The operator's list of an organisation's sessions, newest first.
create index access_token_session on access_token (org_id, id desc) where kind = 2;

-- Assertions that were taken: each is good once.
create table assertion_jti (
  client_id uuid not null,
  jti_sha256 bytea not null check (length(jti_sha256) = 32),
  expires_at timestamptz not null,
  primary key (client_id, jti_sha256)
);
create index assertion_jti_expires on assertion_jti (expires_at);

-- The users of the operator's dashboard: a session is of one, and a call may be forwarded for one.
create table org_user (
  org_id uuid not null references organisation,
  user_id text not null check (length(user_id) between 1 and 200),
  name text,
  created_at timestamptz not null default now(),
  primary key (org_id, user_id)
);

-- Keys of outgoing webhooks, sealed with the operator's key (base/crypto.h AeadSeal, associated text: the id).
create table signing_secret (
  id uuid primary key,
  org_id uuid not null references organisation,
  sealed bytea not null,
  encryption_key_id text not null,
  created_at timestamptz not null default now(),
  retires_at timestamptz  -- null = the current one
);
create index signing_secret_org on signing_secret (org_id, id desc);

-- Answers to requests that were sent with an Idempotency-Key, and the monitor, job or workflow that was made.
create table idempotency_key (
  org_id uuid not null references organisation,
  key text not null check (length(key) between 1 and 255),
  body_sha256 bytea not null check (length(body_sha256) = 32),
  monitor_id uuid,
  answer json not null,  -- the first answer without its rows
  row_count int,         -- a monitor's rows of the first answer: positions [0, row_count)
  created_at timestamptz not null default now(),
  job_id uuid,
  workflow_id uuid,
  primary key (org_id, key),
  constraint idempotency_key_subject check (num_nonnulls(monitor_id, job_id, workflow_id) = 1)
);
create index idempotency_key_created on idempotency_key (created_at);

-- Requests of a minute. `api_key_id` is the id of any principal.
create unlogged table rate_window (
  api_key_id uuid not null,
  minute_at timestamptz not null,
  requests int not null,
  primary key (api_key_id, minute_at)
) with (fillfactor = 50);

-- Receivers ----------------------------------------------------------------------------------------------------------

-- A receiver of one organisation's notifications: a neighbour's failures are not yours. One path that fails slows
-- nothing else of its host, so receivers are told apart by path: see endpoint_host.
create table endpoint (
  id uuid primary key,
  org_id uuid not null references organisation,
  scheme text not null check (scheme in ('http', 'https')),
  host text not null,
  port int not null check (port between 1 and 65535),
  available_at timestamptz not null default '-infinity',  -- no claim before; set by the breaker
  failures int not null default 0 check (failures >= 0),  -- in a row
  failing_since timestamptz,
  failed_at timestamptz,  -- the last failure, so that one failure long ago does not count
  -- Attempts have failed for 48 hours on end: shown to the client as webhook_failing, to the operator as a gauge and in
  -- the overview.
  failing boolean not null
    generated always as (coalesce(failed_at - failing_since >= interval '48 hours', false)) stored,
  unique (org_id, scheme, host, port)
);
create index endpoint_failing on endpoint (failing_since) where failing;

-- What stands in endpoint.host: the host, and a digest of the path (which may hold a secret) where there is one.
create function endpoint_host(host text, path text) returns text language sql stable as $$
  select case when path in ('', '/') then host
              else host || '/' || substring(encode(sha256(convert_to(path, 'UTF8')), 'hex') for 32) end
$$;

-- Monitors and their schedule ----------------------------------------------------------------------------------------

-- What a client has asked to be watched, as it was said. Written only when somebody changes it.
create table monitor (
  id uuid primary key,
  org_id uuid not null references organisation,
  team_id uuid references team,
  name text not null check (length(name) between 1 and 200),
  frequency text not null,  -- as given; monitor_sched has it in seconds
  tier smallint not null check (tier between 0 and 3),
  subject_type smallint not null check (subject_type between 0 and 1),
  status smallint not null check (status between 0 and 4),
  disabled_reason text,
  key_columns text[] not null check (cardinality(key_columns) > 0),
  struct json not null,
  research_plan text,
  metadata json,
  webhook_url text check (length(webhook_url) <= 2083),
  webhook_event_types smallint[] not null default '{}',
  endpoint_id uuid references endpoint,
  confirm_after int not null default 1 check (confirm_after between 1 and 100),
  missing_confirmations int not null default 2 check (missing_confirmations between 1 and 100),
  run_id text check (length(run_id) between 1 and 200),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  control_changed_at timestamptz not null default now(),  -- as organisation's
  -- Counts the changes of struct; field_versions says at which one each field last changed or left.
  struct_version int not null default 0,
  field_versions json,
  -- What ticks up to former_tick_id still go by: the one that was open when struct or subject_type changed.
  former_tick_id bigint,
  former json,
  archived_at timestamptz,
  rules json,  -- {field: {"only_if", "threshold", "ignore"}} (domain/monitor/change_rules.h); null = every change is told
  -- Headers of the requests for a monitor's pages: a JSON object of names and values, sealed as signing secrets are,
  -- with the monitor's id as associated text. Their names alone are shown.
  request_headers bytea,
  request_headers_key_id text,
  request_header_names text[],
  check ((webhook_url is null) = (endpoint_id is null)),
  check ((request_headers is null) = (request_headers_key_id is null)
         and (request_headers is null) = (request_header_names is null))
);
create index monitor_org on monitor (org_id, id desc);
create index monitor_run on monitor (org_id, run_id) where run_id is not null;
create index monitor_control on monitor (control_changed_at);
-- Receivers that no monitor names are forgotten; this finds whether one does.
create index monitor_endpoint on monitor (endpoint_id) where endpoint_id is not null;
create index monitor_request_headers on monitor (request_headers_key_id, id) where request_headers is not null;
-- Monitors that wait for their rows (`starting`) are few among many.
create index monitor_starting on monitor (id) where status = 0;

-- What the scheduler and the closing of ticks write, narrow. Every monitor has one. An organisation's are found by
-- monitor_org: every cut moves next_run_at, which writes a new entry into each index of the row.
create table monitor_sched (
  monitor_id uuid primary key references monitor,
  org_id uuid not null,
  team_id uuid,
  tier smallint not null,
  -- Active, the organisation not locked and with the feature `monitors`. Each statement that changes one keeps it.
  live boolean not null,
  frequency_s bigint not null check (frequency_s > 0),
  anchor_at timestamptz not null,
  next_run_at timestamptz not null,
  row_count int not null check (row_count >= 0),  -- positions [0, row_count) are in use
  active_row_count int not null check (active_row_count between 0 and row_count),
  last_tick_id bigint not null default 0,
  last_run_at timestamptz,  -- the start of the last tick
  -- The open tick, at most one.
  open_tick_id bigint,
  open_due_at timestamptz,
  open_started_at timestamptz,
  open_slots int,
  open_rows int,
  open_trigger smallint,
  -- Whether the open tick has a row in `tick` and outcomes in check_log, because no single chunk holds it.
  open_large boolean not null default false,
  -- Rows of the open tick from portion_position on are not in chunks yet; cut more at portion_at.
  portion_at timestamptz,
  portion_position int,
  -- How long a check took in the last tick, on average, retries included, rounded up to milliseconds; 0 = not known. By
  -- it the next tick is cut into chunks.
  check_ms int not null default 0,
  -- The turn of the last chunk that was cut of the open tick: its next portion goes on from there (domain/monitor/chunk_plan.h).
  portion_turn timestamptz,
  -- Since the start of the first of the last ticks in which every check that was made failed; null = a check completed.
  failing_since timestamptz,
  removed_row_count int not null default 0 check (removed_row_count >= 0),
  -- The tick at whose end the monitor last began to fail, or worked again; null if it never did. The statements that
  -- close ticks tell by it whose state turned, without reading every row twice.
  turned_tick_id bigint,
  check ((open_tick_id is null) = (open_due_at is null)),
  check ((open_tick_id is null) = (open_started_at is null)),
  check ((open_tick_id is null) = (open_slots is null)),
  check ((open_tick_id is null) = (open_rows is null)),
  check ((open_tick_id is null) = (open_trigger is null)),
  check (not open_large or open_tick_id is not null),
  check ((portion_at is null) = (portion_position is null)),
  check (portion_at is null or open_large)
) with (fillfactor = 60);
create index monitor_sched_due on monitor_sched (next_run_at) where live;
create index monitor_sched_portion on monitor_sched (portion_at) where portion_at is not null;
create index monitor_sched_open_large on monitor_sched (monitor_id) where open_large;
create index monitor_sched_failing on monitor_sched (monitor_id) where failing_since is not null;

-- A monitor with its schedule, its organisation's switches, what the organisation has and the team may still spend,
-- which say whether its checks can be paid, and its receiver's state: what the API and the admin port read.
-- shown_status is what people are told: domain/monitor/monitor.h ShowStatus says the same.
create view monitor_shown as
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

-- Rows and events ----------------------------------------------------------------------------------------------------

-- A row of a monitor and what is known of it. Wide; written only when something changes.
create table monitor_row (
  monitor_id uuid not null references monitor,
  position int not null check (position >= 0),  -- dense, never reused
  id uuid not null unique,
  org_id uuid not null,
  key_hash bytea not null check (length(key_hash) = 16),  -- of the normalised key values
  subject json not null,
  context json,            -- null = no further columns
  baseline json not null,  -- values given and first observations
  known json,              -- what was last observed; null = as baseline
  pending json,            -- what waits for confirmation: {field: {"value", "seen"}}; null = nothing
  is_active boolean not null default true,
  disabled_reason text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  -- The origin of each present value: {field: {"since", "evidence", "sources", "confidence", "of"}}, `of` being the
  -- value's fingerprint (domain/monitor/current_values.h), or null for a field that was looked for and never observed. A value
  -- without its own fingerprint here has no facts.
  seen jsonb,
  -- The monitor's struct_version that the values were observed with. A field that has changed since is forgotten.
  struct_version int not null default 0,
  removed_at timestamptz,
  primary key (monitor_id, position),
  unique (monitor_id, key_hash)
) with (fillfactor = 85);

-- The only row that every check writes: narrow, with room for HOT updates from the first one on, no further index.
create table row_state (
  monitor_id uuid not null,
  position int not null,
  -- The check's in last_tick_id (domain/monitor/enums.h); 0 = none yet.
  outcome smallint not null default 0 check (outcome between 0 and 8),
  last_tick_id bigint not null default 0,
  last_run_at timestamptz,  -- until when the last completed check looked
  primary key (monitor_id, position)
) with (fillfactor = 45);

-- Rows that were switched off or on of late, so that workers that hold them hear of it within seconds (G5). The
-- statement that switches a row removes what is old.
create table row_switch (
  monitor_id uuid not null,
  position int not null,
  is_active boolean not null,
  switched_at timestamptz not null default now(),
  primary key (monitor_id, position)
);
create index row_switch_at on row_switch (switched_at);

-- `change` events, and the errors of failed checks. Completions and errors of skipped checks are derived from tick and
-- check_log, never stored.
create table event (
  id uuid not null,
  org_id uuid not null,
  monitor_id uuid not null,
  row_id uuid not null,
  tick_id bigint not null,
  event_group_id uuid not null,
  event_type smallint not null check (event_type between 0 and 1),
  field text,
  previous_value json,
  current_value json,
  message text,
  evidence text,
  sources json,
  confidence double precision,
  created_at timestamptz not null default now(),
  check ((event_type = 0) = (field is not null)),
  check ((event_type = 1) = (message is not null))
) partition by range (tick_id);
create index event_row on event (row_id, tick_id desc);
-- Events of a whole monitor and of an organisation, newest first.
create index event_monitor on event (monitor_id, tick_id, id);
create index event_org on event (org_id, tick_id, id);

-- An uploaded CSV file.
create table upload (
  id uuid primary key,
  org_id uuid not null references organisation,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  finished_at timestamptz,  -- null: still being received, or broken off
  columns text[] not null default '{}',
  row_count bigint not null default 0 check (row_count >= 0),
  part_count int not null default 0 check (part_count >= 0),
  bytes bigint not null default 0 check (bytes >= 0),  -- of its parts
  used_at timestamptz                                  -- when a monitor was first made from it
);
create index upload_expires on upload (expires_at);
create index upload_org on upload (org_id);

-- Whole records of the file, in order, as they came (the header is not among them).
create table upload_part (
  upload_id uuid not null references upload on delete cascade,
  part int not null check (part >= 0),
  first_line bigint not null,
  row_count int not null check (row_count > 0),
  text text not null,
  primary key (upload_id, part)
);
-- Compressing costs more than the disk of a day.
alter table upload_part alter column text set storage external;

-- The adding of an upload's rows to a monitor that is `starting`: parts [0, next_part) have been added.
create table monitor_import (
  monitor_id uuid primary key references monitor,
  org_id uuid not null,
  upload_id uuid not null references upload,
  next_part int not null default 0 check (next_part >= 0),
  taken_at timestamptz not null default now(),  -- the one taken longest ago comes next
  -- How often adding the part that comes next has failed, and when it is tried again.
  failures int not null default 0 check (failures >= 0),
  not_before timestamptz not null default now()
);
create index monitor_import_taken on monitor_import (taken_at);
create index monitor_import_upload on monitor_import (upload_id);

-- Chunks, ticks and leases -------------------------------------------------------------------------------------------

-- Up to chunk_rows_max checks, leased as a unit. Element i of the arrays: rows [firsts[i], ends[i]) of monitor_ids[i]
-- in its tick tick_ids[i].
create table chunk (
  id uuid primary key,
  org_id uuid not null,
  team_id uuid,
  tier smallint not null,
  -- Due time, then the lease's end: the one column a claim filters and orders by.
  available_at timestamptz not null,
  lease_token uuid,
  claims int not null default 0 check (claims >= 0),  -- since the last progress
  monitor_id uuid,  -- of a part of a larger tick; null = every tick is wholly inside
  monitor_ids uuid[] not null,
  tick_ids bigint[] not null,
  firsts int[] not null,
  ends int[] not null,
  due_at timestamptz not null,
  row_count int not null check (row_count > 0),
  reserved_mc bigint not null default 0 check (reserved_mc >= 0),
  price_mc bigint check (price_mc >= 0),  -- per check, fixed at the first admission
  month date,                             -- whose team_spend it counts in
  check ((price_mc is null) = (month is null)),
  check (reserved_mc = 0 or price_mc is not null),
  check (cardinality(monitor_ids) = cardinality(tick_ids)),
  check (cardinality(monitor_ids) = cardinality(firsts)),
  check (cardinality(monitor_ids) = cardinality(ends))
) with (fillfactor = 70);
create index chunk_due on chunk (org_id, available_at);
create index chunk_monitor on chunk (monitor_id) where monitor_id is not null;

-- The skip ledger (G7). tick_id is the time in microseconds.
create table tick (
  monitor_id uuid not null,
  tick_id bigint not null,
  org_id uuid not null,
  trigger smallint not null check (trigger between 0 and 1),
  due_at timestamptz not null,
  started_at timestamptz not null,
  finished_at timestamptz,
  slots int not null check (slots >= 0),
  row_count int not null check (row_count >= 0),
  outcomes bytea,   -- one byte a row (domain/monitor/enums.h), of a tick that was wholly inside one chunk
  counts bigint[],  -- rows by outcome (index = number), of any other finished tick
  primary key (monitor_id, tick_id),
  check (finished_at is null or (outcomes is null) <> (counts is null)),
  check (outcomes is null or length(outcomes) = row_count)
) partition by range (tick_id);

-- Outcomes of larger ticks: one byte a row of positions [block * 256 + first, ...).
create table check_log (
  monitor_id uuid not null,
  block int not null,
  tick_id bigint not null,
  first smallint not null check (first between 0 and 255),
  org_id uuid not null,
  recorded_at timestamptz not null default now(),
  outcomes bytea not null check (first + length(outcomes) <= 256),
  check_ms int,  -- as monitor_sched's, of the chunk that logged the block, until its tick is closed
  primary key (monitor_id, block, tick_id, first)
) partition by range (tick_id);

-- Jobs ---------------------------------------------------------------------------------------------------------------

-- What one request asks for that takes longer than a request should: lookups, bulk, investigations, runs of workflows
-- (domain/job/job.h).
create table job (
  id uuid primary key,
  org_id uuid not null references organisation,
  team_id uuid references team,
  kind smallint not null check (kind between 0 and 6),
  status smallint not null default 0 check (status between 0 and 6),
  status_reason text,
  error text,
  name text,
  workflow_id uuid,
  upload_id uuid,
  part_rows smallint not null check (part_rows between 1 and 256),
  params json not null,                   -- a lookup: its request, rows included
  waited boolean not null default false,  -- a client waits: its chunks have rank 0, and the end is signalled
  caller_kind smallint not null check (caller_kind between 0 and 3),  -- domain/auth/principal.h
  caller_id uuid not null,
  remote_address text not null,
  estimate_mc bigint not null check (estimate_mc >= 0),
  reserved_mc bigint not null check (reserved_mc >= 0),
  charged_mc bigint not null default 0 check (charged_mc >= 0),
  month date not null,                    -- whose team_spend it counts in, to its end
  webhook_url text check (length(webhook_url) between 1 and 2083),
  endpoint_id uuid,
  created_at timestamptz not null default now(),
  started_at timestamptz,
  deadline_at timestamptz not null,
  finished_at timestamptz,
  on_behalf_of text,
  check ((status >= 2) = (finished_at is not null)),
  check (finished_at is null or reserved_mc = 0),
  check (reserved_mc + charged_mc <= estimate_mc),
  check ((webhook_url is null) = (endpoint_id is null)),
  check (started_at >= created_at),
  check (finished_at >= coalesce(started_at, created_at))
) with (fillfactor = 70);
-- No index holds a column that a record writes, so that a record's update stays in its page.
create index job_org on job (org_id, id desc);
create index job_open_org on job (org_id, kind) where finished_at is null;
create index job_open_deadline on job (deadline_at) where finished_at is null;
create index job_open_upload on job (upload_id) where finished_at is null and upload_id is not null;
create index job_finished on job (finished_at) where finished_at is not null;
create index job_run_created on job (org_id, created_at desc, id desc) where kind = 5;
create index job_run_status on job (org_id, status, created_at desc, id desc) where kind = 5;
create index job_run_workflow on job (workflow_id, created_at desc, id desc) where kind = 5;
create index job_endpoint on job (endpoint_id) where finished_at is null and endpoint_id is not null;

-- A block of a job and its progress. A lookup has one, a run one for each block of its workflow.
create table job_block (
  job_id uuid not null references job,
  block smallint not null check (block between 0 and 63),
  type text not null,
  specs json not null,
  input smallint check (input between 0 and block - 1),
  lane smallint not null check (lane between 0 and 3),
  price_mc bigint not null check (price_mc >= 0),  -- of a row, fixed at the start
  after_drop boolean not null,                     -- a block before it drops rows
  columns text[],                                  -- of its output, once bound
  rows_total bigint check (rows_total >= 0),       -- of a block without input
  parts_total int not null check (parts_total >= 0),
  opened int not null default 0,
  parts_done int not null default 0 check (parts_done >= 0),
  part_window int not null check (part_window >= 1),
  rows_done bigint not null default 0 check (rows_done >= 0),
  rows_out bigint not null default 0 check (rows_out >= 0),
  row_errors bigint not null default 0 check (row_errors >= 0),
  rows_charged bigint not null default 0 check (rows_charged >= 0),
  status smallint not null default 0 check (status between 0 and 3),
  error text,
  started_at timestamptz,
  updated_at timestamptz not null default now(),
  finished_at timestamptz,
  last_error text,  -- for the operator, of the last row that failed: the code and its sentence, nothing of the row
  -- The receiver that a block `outgoing_webhook`, and no other, sends the end of its run to.
  webhook_url text check (length(webhook_url) between 1 and 2083),
  endpoint_id uuid,
  -- How long rows took, each for itself: what the parts of later runs are sized by.
  rows_timed bigint not null default 0,
  rows_took_us bigint not null default 0,
  monitor_id uuid,                  -- what a block `monitor` has made, once its first part is recorded
  bytes bigint not null default 0,  -- the parts that it has made, as text, and what each takes beside it
  pace_us bigint not null default 0,  -- a row's time, as guessed when the run was cut into parts; 0: it has none
  primary key (job_id, block),
  check (parts_done <= opened and opened <= parts_total),
  constraint job_block_webhook check ((webhook_url is null) = (endpoint_id is null))
) with (fillfactor = 50);
create index job_block_endpoint on job_block (endpoint_id) where endpoint_id is not null;

-- A job with its progress: what the API and the admin port read. A block without rows of its own to begin with works on
-- those that its input has made.
create view job_shown as
select j.id, j.org_id, j.team_id, j.kind, j.status, j.status_reason, j.error, j.caller_kind, j.caller_id, j.estimate_mc,
       j.reserved_mc, j.charged_mc, j.created_at, j.started_at, j.deadline_at, j.finished_at, b.rows_done, b.rows_total
from job j
cross join lateral (
  select coalesce(sum(b.rows_done), 0)::bigint as rows_done,
         coalesce(sum(coalesce(b.rows_total, i.rows_out)), 0)::bigint as rows_total
  from job_block b left join job_block i on i.job_id = b.job_id and i.block = b.input
  where b.job_id = j.id) b;

-- One block over one part, leased to one worker as a unit.
create table job_chunk (
  id uuid primary key,
  org_id uuid not null,
  lane smallint not null check (lane between 0 and 3),
  rank smallint not null check (rank between 0 and 1),  -- 0: a client waits
  available_at timestamptz not null,  -- due time, then the lease's end
  due_at timestamptz not null,
  lease_token uuid,
  claims int not null default 0 check (claims >= 0),  -- since the last progress
  job_id uuid not null,
  block smallint not null,
  part int not null,
  done json,  -- ends of rows: {"rows": [cells or null, ..], "later": {..}}
  progress int not null default 0 check (progress >= 0),  -- records made of it
  suspect smallint check (suspect between -1 and 255),    -- the row on its last try; -1: the whole part
  last_error text,  -- as job_block's
  -- What a part that was given back waits for (domain/job/job.h); null: nothing that clients are told. It says
  -- something while nobody holds the part.
  waits_for smallint,
  unique (job_id, block, part)
) with (fillfactor = 70);
create index job_chunk_due on job_chunk (lane, org_id, rank, available_at);
create index job_chunk_waits on job_chunk (job_id) where waits_for is not null;

-- Rows that a request gave or a block made, written once. Partitioned by the day of the job's id: see job_part_bound.
create table job_part (
  job_id uuid not null,
  block smallint not null,
  part int not null check (part >= 0),
  rows json not null,  -- array of arrays, cells in the order of job_block.columns; null = a row that was not recorded
  row_count smallint not null check (row_count between 0 and 256),
  primary key (job_id, block, part)
) partition by range (job_id);

-- What a block `dedupe` has seen. Partitioned and dropped as job_part.
create table run_key (
  job_id uuid not null,
  block smallint not null,
  key_hash bytea not null check (length(key_hash) = 16),
  primary key (job_id, block, key_hash)
) partition by range (job_id);

-- What runs that have ended left, in bytes of the disk, by the day that job_part drops it with. Several rows of a day
-- add up: a session has one of its own, so that ends of one organisation's runs do not wait for each other. One may be
-- negative, as what is dropped before its day is taken off.
create table run_data (
  org_id uuid not null,
  day date not null,
  shard smallint not null,
  bytes bigint not null,
  primary key (org_id, day, shard)
) with (fillfactor = 50);

-- Cancelled runs whose source's rows, which nobody can read any more, are to be dropped.
create table run_data_unread (
  job_id uuid primary key,
  bytes bigint not null  -- of these rows
);

-- Deliveries ---------------------------------------------------------------------------------------------------------

-- A notification of a monitor's row or a job that is pending or dead; a delivered one leaves and stays in
-- delivery_attempt. No body: every attempt builds it again from these columns and the monitor's metadata, or the job,
-- so that a retry rewrites little.
create table delivery (
  id uuid primary key,
  org_id uuid not null,
  endpoint_id uuid not null,
  monitor_id uuid,
  row_id uuid,
  event_group_id uuid not null,
  type smallint not null check (type between 0 and 15),
  state smallint not null default 0 check (state between 0 and 1),
  attempts int not null default 0 check (attempts >= 0),
  created_at timestamptz not null default now(),
  available_at timestamptz not null,  -- next attempt, or the lease's end
  lease_token uuid,
  last_error text,
  -- After a replay the retry schedule begins again: from this time, without these attempts.
  replayed_at timestamptz,
  replayed_attempts int not null default 0 check (replayed_attempts <= attempts),
  job_id uuid,
  block smallint,
  job_status smallint,
  constraint delivery_subject check ((job_id is null) = (monitor_id is not null)),
  constraint delivery_row check ((monitor_id is null) = (row_id is null)),
  constraint delivery_job_status check ((job_id is null) = (job_status is null))
) with (fillfactor = 80);
create index delivery_due on delivery (endpoint_id, available_at) where state = 0;
create index delivery_dead on delivery (id) where state = 1;
create index delivery_monitor on delivery (monitor_id, id);
create index delivery_job on delivery (job_id) where job_id is not null;

-- The history of attempts; for state=delivered also the record of the delivery.
create table delivery_attempt (
  delivery_id uuid not null,
  attempt int not null,
  org_id uuid not null,
  monitor_id uuid,
  row_id uuid,
  event_group_id uuid not null,
  type smallint not null,
  created_at timestamptz not null,  -- the delivery's
  attempted_at timestamptz not null,
  delivered boolean not null,
  status_code int,
  error text,    -- class and sentence; null when delivered
  answer bytea,  -- at most [delivery] answer_bytes_max
  duration_us bigint not null,
  job_id uuid,
  block smallint,
  job_status smallint,
  constraint delivery_attempt_subject check ((job_id is null) = (monitor_id is not null))
) partition by range (attempted_at);
create index delivery_attempt_delivery on delivery_attempt (delivery_id, attempt);

-- Email and what is known of people ----------------------------------------------------------------------------------

-- Facts of the network about mail servers, which belong to no organisation. `mx_kind` and `class` are numbers of
-- domain/email/verdict.h.
create table mail_domain (
  domain text primary key,  -- A-labels in lower case
  mx_kind smallint not null,
  hosts text[] not null,  -- best first
  class smallint not null,
  mx_at timestamptz not null,
  control text not null,  -- the local part that should not exist, kept so that greylisting lets it pass
  control_at timestamptz not null,
  accepts_all smallint not null default 0 check (accepts_all between 0 and 2),  -- not known, no, yes
  accepts_all_at timestamptz,
  recipients_max smallint,  -- of one connection, as the host showed; empty: as its class says
  recipients_at timestamptz
);

-- Hosts that refuse us or do not answer.
create table mail_host (
  key text primary key,  -- EHLO name and class, or network
  failures int not null default 0,
  blocked_until timestamptz,
  reason smallint,
  last_reply text check (length(last_reply) <= 300),  -- for the operator; addresses in it are replaced
  updated_at timestamptz not null,
  -- What the fleet has seen in a row of a host that is not blocked yet: the domains about which it refused us, and
  -- connections that failed.
  refused_for text[] not null default '{}',
  connect_failures int not null default 0
);

-- Permits of the fleet to name recipients. A window begins with its first use. After a crash of the database the
-- windows begin again.
create unlogged table mail_budget (
  key text primary key,
  window_at timestamptz not null,
  used int not null
) with (fillfactor = 50);

-- What an organisation has learnt of an address. Nobody else sees it (G8).
create table email_fact (
  org_id uuid not null references organisation,
  address text not null,  -- its key: lower case
  verdict smallint not null,
  reason smallint,
  stated boolean not null,
  provider text not null,
  sources json,
  checked_at timestamptz not null,
  until timestamptz not null,
  primary key (org_id, address)
);
create index email_fact_until on email_fact (until);

-- The people who have an address, as an organisation's own lookups say: a fact apart from what its server said of it.
-- Several people may have one address, and nobody takes it from another. Nobody else sees it (G8).
create table email_owner (
  org_id uuid not null,
  address text not null,
  person_key bytea not null check (length(person_key) = 16),  -- of the SHA-256 of folded name and domain
  primary key (org_id, person_key, address),
  foreign key (org_id, address) references email_fact on delete cascade
);
create index email_owner_address on email_owner (org_id, address);

-- How addresses of a domain are made from names, as an organisation has learnt it.
create table domain_pattern (
  org_id uuid not null references organisation,
  domain text not null,
  pattern smallint not null,
  hits int not null,
  misses int not null,
  last_at timestamptz not null,
  primary key (org_id, domain, pattern)
);

-- Domains that an organisation's own leads have named for a company, so that a lead with the company alone gets one.
-- Nobody else sees it (G8).
create table company_domain (
  org_id uuid not null references organisation,
  company_key bytea not null check (length(company_key) = 16),  -- of the SHA-256 of the folded name
  domain text not null,  -- A-labels in lower case
  hits int not null check (hits > 0),  -- leads that named it
  last_at timestamptz not null,
  primary key (org_id, company_key, domain)
);

-- The suppression list: what must not be looked up (kinds: address, domain, profile URL, person). Only hashes are kept.
create table suppression (
  id uuid primary key,
  kind smallint not null check (kind between 0 and 3),
  hash bytea not null check (length(hash) = 32),
  org_id uuid references organisation,  -- null: of every organisation
  reason text not null,
  created_at timestamptz not null default now()
);
create unique index suppression_once
  on suppression (kind, hash, coalesce(org_id, '00000000-0000-0000-0000-000000000000'));

-- Workflows ----------------------------------------------------------------------------------------------------------

-- A saved graph of blocks. Its runs are jobs.
create table workflow (
  id uuid primary key,
  org_id uuid not null references organisation,
  name text not null,
  description text not null,
  definition json not null,  -- domain/workflow/definition.h
  caller_kind smallint not null check (caller_kind between 0 and 3),  -- who made it (domain/auth/principal.h)
  caller_id uuid not null,
  on_behalf_of text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  deleted_at timestamptz  -- its runs go on, and are still found by it
);
-- Newest first, also where clients have chosen the ids.
create index workflow_newest on workflow (org_id, created_at desc, id desc) where deleted_at is null;

-- Templates that belong to an organisation; those of everybody are compiled in.
create table workflow_template (
  id uuid primary key,
  org_id uuid not null references organisation,
  slug text not null check (length(slug) between 1 and 100),
  document json not null,  -- domain/workflow/template.h
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (org_id, slug)
);
create index workflow_template_org on workflow_template (org_id, id);

-- Search and investigations ------------------------------------------------------------------------------------------

-- One import of documents: people and companies whose field values are counted (docs/search.md). What is current is
-- what callers see: the shared documents (no organisation) and their own.
create table search_import (
  id uuid primary key,  -- the caller's
  mode smallint not null check (mode between 0 and 1),  -- domain/search/fields.h
  org_id uuid references organisation,
  state smallint not null default 0 check (state between 0 and 3),  -- domain/search/documents.h
  lines bigint not null default 0 check (lines >= 0),  -- received
  documents bigint check (documents >= 0),  -- once it is current
  touched_at timestamptz not null default now()
);
create unique index search_import_current
  on search_import (mode, coalesce(org_id, '00000000-0000-0000-0000-000000000000')) where state = 2;

-- A document. Without a foreign key: documents are deleted in batches before their import is.
create table search_entity (
  import_id uuid not null,
  id text not null,
  doc jsonb not null,
  primary key (import_id, id)
);
create index search_entity_doc on search_entity using gin (doc jsonb_path_ops);

-- The top values of each field over a whole import, counted once.
create table search_top (
  import_id uuid not null references search_import on delete cascade,
  field text not null,
  fields_hash text not null,  -- of the catalogue that it was counted with
  total bigint not null,
  missing bigint not null,
  counted bigint not null,  -- sum of the counts of all values
  top json not null,  -- [[value, count], ...], the largest first
  primary key (import_id, field)
);

-- Saved lists of documents that counts leave out (docs/search.md).
create table search_exclusion (
  id uuid primary key,
  org_id uuid not null references organisation,
  name text not null check (length(name) between 1 and 200),
  mode smallint not null check (mode between 0 and 1),  -- whose documents: domain/search/fields.h
  state smallint not null default 0 check (state between 0 and 1),  -- domain/search/documents.h
  entities int not null default 0 check (entities >= 0),  -- different ids
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index search_exclusion_org on search_exclusion (org_id, id);

-- A document of such a list.
create table search_exclusion_entity (
  list_id uuid not null references search_exclusion on delete cascade,
  entity_id text not null,
  primary key (list_id, entity_id)
);

-- What a job that is an investigation is about, and how far it may go (docs/investigations.md).
create table investigation (
  id uuid primary key references job on delete cascade,
  org_id uuid not null references organisation,
  seeds json not null,  -- [{"type", "value"}, ..]
  depth smallint not null check (depth between 1 and 3),
  findings_max int not null check (findings_max between 1 and 10000),
  credits_mc_max bigint check (credits_mc_max > 0),
  subjects_max int check (subjects_max > 0),  -- that credits_mc_max pays for
  subjects int not null check (subjects > 0),  -- that are expanded, or will be
  next_seq bigint not null default 1,
  budget_reached boolean not null default false
) with (fillfactor = 50);

-- What an investigation has found.
create table finding (
  investigation_id uuid not null references investigation on delete cascade,
  -- In the order of commits, without gaps: the investigation's lock is held from its number to COMMIT.
  seq bigint not null,
  id uuid not null,
  org_id uuid not null,
  kind smallint not null check (kind between 0 and 2),  -- domain/investigation/finding.h
  subject json not null,
  predicate text not null,
  object json,
  confidence double precision,
  evidence text not null,
  sources json not null,
  provider text not null,
  derived_from uuid[] not null,
  block smallint not null,  -- that found it first
  part int not null,
  created_at timestamptz not null default now(),
  primary key (investigation_id, seq),
  unique (investigation_id, id)
);

-- The fleet and its operators ----------------------------------------------------------------------------------------

-- A process that serves, by its heartbeat.
create table member (
  id uuid primary key,
  roles text[] not null,
  version text not null,
  host text not null,
  pid int not null,
  started_at timestamptz not null default now(),
  heartbeat_at timestamptz not null default now(),
  draining boolean not null default false,
  counters json not null default '{}',  -- what it has counted since it started: the overview's rates over the fleet
  lanes text[] not null default '{}',   -- that a worker serves
  mail_check json,                      -- what the doctor of a member that verifies addresses found
  providers json                        -- providers of lookups that fail in it: [{"id", "failures", "left_out"}]
);

-- What operators and clients have changed.
create table audit (
  id uuid primary key,
  at timestamptz not null default now(),
  actor text not null,   -- the admin token's name
  action text not null,  -- "monitor.pause", "org.credits", ...
  target text not null,  -- the id acted on
  org_id uuid,
  reason text,
  detail json,
  remote_address text not null,
  principal_kind smallint,  -- domain/auth/principal.h
  principal_id uuid,
  on_behalf_of text
);
create index audit_at on audit (at);
create index audit_org on audit (org_id, at desc) where org_id is not null;

-- History by partitions ----------------------------------------------------------------------------------------------

-- Partitions are weeks; those of job_part and run_key are days. What falls outside goes into the default partition, so
-- that nothing is lost when maintenance has not run.
create table tick_default partition of tick default;
create table check_log_default partition of check_log default;
create table event_default partition of event default;
create table delivery_attempt_default partition of delivery_attempt default;
create table job_part_default partition of job_part default;
create table run_key_default partition of run_key default;

do $$
begin
  execute 'alter table job_part alter column rows set compression lz4';
exception when others then
  null;  -- a server that was built without it
end $$;

-- The least UUIDv7 of a millisecond: ids of one day lie between the bounds of two days.
create function job_part_bound(at timestamptz) returns uuid language sql immutable as $$
  select (substr(t.hex, 1, 8) || '-' || substr(t.hex, 9, 4) || '-0000-0000-000000000000')::uuid
  from (select lpad(to_hex(floor(extract(epoch from at) * 1000)::bigint), 12, '0') as hex) t
$$;

-- Makes the partition of the week that begins at `week` (the day, of job_part and run_key), also where the default
-- partition already holds rows of that week: they move into it. False: there are more of them than may move at once.
-- Bounds are microseconds since 1970, except delivery_attempt's, which are times, and those of days.
create function ensure_partition(parent text, week timestamptz, moved_rows_max int) returns boolean language plpgsql
-- A transaction that waits for these locks waits no longer than that.
set lock_timeout = '2s' as $$
declare
  name text := parent || '_' || to_char(week at time zone 'UTC', 'YYYYMMDD');
  rest text := parent || '_default';
  is_of_jobs boolean := parent in ('job_part', 'run_key');
  key_column text := case when parent = 'delivery_attempt' then 'attempted_at' when is_of_jobs then 'job_id'
                     else 'tick_id' end;
  lower_bound text;
  upper_bound text;
  found int;
begin
  if to_regclass(name) is not null then return true; end if;
  if parent = 'delivery_attempt' then
    lower_bound := quote_literal(week);
    upper_bound := quote_literal(week + interval '7 days');
  elsif is_of_jobs then
    lower_bound := quote_literal(job_part_bound(week));
    upper_bound := quote_literal(job_part_bound(week + interval '1 day'));
  else
    lower_bound := (extract(epoch from week) * 1000000)::bigint::text;
    upper_bound := (extract(epoch from week + interval '7 days') * 1000000)::bigint::text;
  end if;
  -- More rows than can be moved in one go stay where they are, until their retention ends.
  execute format('select count(*) from (select from only %I where %I >= %s and %I < %s limit %s) r',
                 rest, key_column, lower_bound, key_column, upper_bound, moved_rows_max + 1) into found;
  if found > moved_rows_max then return false; end if;
  -- The parent goes first, as for everybody who writes. With both locks nobody reads or writes the default partition
  -- while its rows move, so they are never missed and never seen twice.
  execute format('lock table only %I in share update exclusive mode', parent);
  execute format('lock table only %I in access exclusive mode', rest);
  execute format('create table %I (like %I including all)', name, parent);
  execute format('with moved as (delete from only %I where %I >= %s and %I < %s returning *) '
                 'insert into %I select * from moved',
                 rest, key_column, lower_bound, key_column, upper_bound, name);
  execute format('alter table %I attach partition %I for values from (%s) to (%s)',
                 parent, name, lower_bound, upper_bound);
  return true;
end $$;

-- This week and the next three, today and the next eight days.
select ensure_partition(parent, (date_trunc('week', now() at time zone 'UTC') + k * interval '7 days')
                                at time zone 'UTC', 0)
from unnest(array['tick', 'check_log', 'event', 'delivery_attempt']) parent, generate_series(0, 3) k;
select ensure_partition(parent, (date_trunc('day', now() at time zone 'UTC') + k * interval '1 day')
                                at time zone 'UTC', 0)
from unnest(array['job_part', 'run_key']) parent, generate_series(0, 8) k;
