-- The whole model (docs/architecture.md). Times are timestamptz, money is integer millicredits (_mc), ids are UUIDv7
-- made by the process. The numbers in smallint columns are the enums of domain/names.h and domain/outcome.h.

-- Tenants ------------------------------------------------------------------------------------------------------------

create table organisation (
  id uuid primary key,
  name text not null check (length(name) between 1 and 200),
  locked boolean not null default false,
  features text[] not null default '{}'
    check (features <@ array['monitors', 'testing_monitors', 'high_tier']),
  created_at timestamptz not null default now(),
  -- When a flag last changed that decides whether checks may run; workers read what changed (G5).
  control_changed_at timestamptz not null default now()
);
create index organisation_control on organisation (control_changed_at);

create table team (
  id uuid primary key,
  org_id uuid not null references organisation,
  name text not null check (length(name) between 1 and 200),
  spend_limit_mc bigint check (spend_limit_mc >= 0),  -- per calendar month, UTC; null = none
  created_at timestamptz not null default now()
);
create index team_org on team (org_id, id);

-- What a team's checks have been admitted for in a month; given back for what was not charged.
create table team_spend (
  team_id uuid not null references team,
  month date not null,
  spent_mc bigint not null default 0 check (spent_mc >= 0),
  primary key (team_id, month)
);

-- balance_mc + sum(chunk.reserved_mc) = sum(credit_entry.amount_mc), always (G4).
create table account (
  org_id uuid primary key references organisation,
  balance_mc bigint not null default 0 check (balance_mc >= 0)
);

-- The ledger: append only. A charge is negative and says for how many completed checks it is.
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
  check ((checks is null) = (tier is null)),
  check (checks is null or amount_mc < 0)
);
create index credit_entry_org on credit_entry (org_id, id);

create table api_key (
  id uuid primary key,
  org_id uuid not null references organisation,
  team_id uuid references team,
  name text not null check (length(name) between 1 and 200),
  prefix text not null,  -- the public part of the key, by which it is found
  key_sha256 bytea not null unique check (length(key_sha256) = 32),
  created_at timestamptz not null default now(),
  revoked_at timestamptz
);
create index api_key_prefix on api_key (prefix);
create index api_key_org on api_key (org_id, id);

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

create table idempotency_key (
  org_id uuid not null references organisation,
  key text not null check (length(key) between 1 and 255),
  body_sha256 bytea not null check (length(body_sha256) = 32),
  monitor_id uuid not null,
  answer json not null,       -- the first answer without its rows
  row_count int not null,     -- rows of the first answer: positions [0, row_count)
  created_at timestamptz not null default now(),
  primary key (org_id, key)
);
create index idempotency_key_created on idempotency_key (created_at);

create unlogged table rate_window (
  api_key_id uuid not null,
  minute_at timestamptz not null,
  requests int not null,
  primary key (api_key_id, minute_at)
) with (fillfactor = 50);

-- Monitors -----------------------------------------------------------------------------------------------------------

-- One receiver of one organisation: a neighbour's failures are not yours.
create table endpoint (
  id uuid primary key,
  org_id uuid not null references organisation,
  scheme text not null check (scheme in ('http', 'https')),
  host text not null,
  port int not null check (port between 1 and 65535),
  available_at timestamptz not null default '-infinity',  -- no claim before; set by the breaker
  failures int not null default 0 check (failures >= 0),  -- in a row
  failing_since timestamptz,
  unique (org_id, scheme, host, port)
);

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
  check ((webhook_url is null) = (endpoint_id is null))
);
create index monitor_org on monitor (org_id, id desc);
create index monitor_run on monitor (org_id, run_id) where run_id is not null;
create index monitor_control on monitor (control_changed_at);

-- What the scheduler and the closing of ticks write, narrow. Every monitor has one.
create table monitor_sched (
  monitor_id uuid primary key references monitor,
  org_id uuid not null,
  team_id uuid,
  tier smallint not null,
  -- Active, the organisation not locked and with the feature `monitors`. Kept by whoever changes one of these.
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
create index monitor_sched_org on monitor_sched (org_id);

-- Wide; written only when something changes.
create table monitor_row (
  monitor_id uuid not null references monitor,
  position int not null check (position >= 0),  -- dense, never reused
  id uuid not null unique,
  org_id uuid not null,
  key_hash bytea not null check (length(key_hash) = 16),  -- of the normalised key values
  subject json not null,
  context json,             -- null = no further columns
  baseline json not null,   -- values given and first observations
  known json,               -- what was last observed; null = as baseline
  pending json,             -- what waits for confirmation: {field: {"value", "seen"}}; null = nothing
  is_active boolean not null default true,
  disabled_reason text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (monitor_id, position),
  unique (monitor_id, key_hash)
) with (fillfactor = 85);

-- The only row that every check writes: narrow, with room for HOT updates from the first one on, no further index.
create table row_state (
  monitor_id uuid not null,
  position int not null,
  outcome smallint not null default 0 check (outcome between 0 and 8),  -- of the check in last_tick_id; 0 = none yet
  last_tick_id bigint not null default 0,
  last_run_at timestamptz,  -- until when the last completed check looked
  primary key (monitor_id, position)
) with (fillfactor = 45);

-- Work ---------------------------------------------------------------------------------------------------------------

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

-- The skip ledger (G7). Partitioned by tick_id, which is microseconds: see ensure_partitions.
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
  outcomes bytea,   -- one byte a row, of a tick that was wholly inside one chunk
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
  primary key (monitor_id, block, tick_id, first)
) partition by range (tick_id);

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

-- Deliveries ---------------------------------------------------------------------------------------------------------

-- A notification that is pending or dead; a delivered one leaves and stays in delivery_attempt. No body: it is built
-- anew from these columns and the monitor's metadata at every attempt, so that a retry rewrites little.
create table delivery (
  id uuid primary key,
  org_id uuid not null,
  endpoint_id uuid not null,
  monitor_id uuid not null,
  row_id uuid not null,
  event_group_id uuid not null,
  type smallint not null check (type between 0 and 2),
  state smallint not null default 0 check (state between 0 and 1),
  attempts int not null default 0 check (attempts >= 0),
  created_at timestamptz not null default now(),
  available_at timestamptz not null,  -- next attempt, or the lease's end
  lease_token uuid,
  last_error text,
  -- After a replay the retry schedule counts anew: from this time, and not these attempts.
  replayed_at timestamptz,
  replayed_attempts int not null default 0 check (replayed_attempts <= attempts)
) with (fillfactor = 80);
create index delivery_due on delivery (endpoint_id, available_at) where state = 0;
create index delivery_dead on delivery (id) where state = 1;
create index delivery_monitor on delivery (monitor_id, id);

-- The history of attempts; for state=delivered also the record of the delivery.
create table delivery_attempt (
  delivery_id uuid not null,
  attempt int not null,
  org_id uuid not null,
  monitor_id uuid not null,
  row_id uuid not null,
  event_group_id uuid not null,
  type smallint not null,
  created_at timestamptz not null,    -- the delivery's
  attempted_at timestamptz not null,
  delivered boolean not null,
  status_code int,
  error text,          -- class and sentence; null when delivered
  answer bytea,        -- at most [delivery] answer_bytes_max
  duration_us bigint not null
) partition by range (attempted_at);
create index delivery_attempt_delivery on delivery_attempt (delivery_id, attempt);

-- Operations ---------------------------------------------------------------------------------------------------------

create table audit (
  id uuid primary key,
  at timestamptz not null default now(),
  actor text not null,           -- the admin token's name
  action text not null,          -- "monitor.pause", "org.credits", ...
  target text not null,          -- the id acted on
  org_id uuid,
  reason text,
  detail json,
  remote_address text not null
);
create index audit_at on audit (at);

create table member (
  id uuid primary key,
  roles text[] not null,
  version text not null,
  host text not null,
  pid int not null,
  started_at timestamptz not null default now(),
  heartbeat_at timestamptz not null default now(),
  draining boolean not null default false
);

-- Partitions ---------------------------------------------------------------------------------------------------------

-- One partition a week of each history table, from `from_week` weeks before `at` to `until_week` weeks after. What falls
-- outside goes into the default partition, so that nothing is lost when maintenance has not run.
create table tick_default partition of tick default;
create table check_log_default partition of check_log default;
create table event_default partition of event default;
create table delivery_attempt_default partition of delivery_attempt default;

create function ensure_partitions(at timestamptz, weeks_ahead int) returns int language plpgsql as $$
declare
  parent text;
  week timestamptz;
  name text;
  lower_bound text;
  upper_bound text;
  made int := 0;
begin
  foreach parent in array array['tick', 'check_log', 'event', 'delivery_attempt'] loop
    for k in 0..weeks_ahead loop
      week := date_trunc('week', at at time zone 'UTC') at time zone 'UTC' + k * interval '7 days';
      name := parent || '_' || to_char(week at time zone 'UTC', 'YYYYMMDD');
      continue when to_regclass(name) is not null;
      if parent = 'delivery_attempt' then
        lower_bound := quote_literal(week);
        upper_bound := quote_literal(week + interval '7 days');
      else
        lower_bound := (extract(epoch from week) * 1000000)::bigint::text;
        upper_bound := (extract(epoch from week + interval '7 days') * 1000000)::bigint::text;
      end if;
      execute format('create table %I partition of %I for values from (%s) to (%s)',
                     name, parent, lower_bound, upper_bound);
      made := made + 1;
    end loop;
  end loop;
  return made;
end $$;

select ensure_partitions(now(), 3);
