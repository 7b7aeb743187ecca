-- Workflows on a schedule.

create table workflow_schedule (
  id uuid primary key,
  org_id uuid not null references organisation,
  team_id uuid references team,  -- of who changed it last, and for whom it runs
  workflow_id uuid not null references workflow,
  name text not null check (length(name) between 1 and 200),
  -- The same as in monitor_sched: slots at anchor + k x frequency, or by the clock, where there is a schedule.
  frequency text not null,
  frequency_s bigint not null check (frequency_s > 0),
  schedule json,
  anchor_at timestamptz not null,
  overlap smallint not null check (overlap between 0 and 2),  -- domain/workflow/run_schedule.h
  catch_up_s int not null check (catch_up_s >= 0),
  specs_override json,   -- as POST /workflows/run takes them
  webhook_payload json,
  channel_ids uuid[],    -- told what becomes of its slots; null = none. One that was deleted may still stand here.
  is_active boolean not null,
  paused_reason text,    -- why it is not active, where it was not the client: a code and a sentence
  paused_message text,
  caller_kind smallint not null check (caller_kind between 0 and 3),  -- domain/auth/principal.h
  caller_id uuid not null,
  on_behalf_of text,
  next_at timestamptz not null,  -- the first slot that nothing was decided about
  waiting_slot timestamptz,      -- the slot that waits for the run before it
  look_at timestamptz not null,  -- when it is to be looked at; of one that is being looked at, when its lease ends
  version int not null default 0,  -- grows with each change that a client makes: what was read before starts nothing
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  check (is_active <= (paused_reason is null)),
  check ((paused_reason is null) = (paused_message is null))
) with (fillfactor = 70);
create index workflow_schedule_org on workflow_schedule (org_id, workflow_id, id desc);
create index workflow_schedule_workflow on workflow_schedule (workflow_id);
create index workflow_schedule_look on workflow_schedule (look_at);

-- What became of the newest slots of a schedule.
create table workflow_slot (
  schedule_id uuid not null references workflow_schedule on delete cascade,
  slot timestamptz not null,
  state smallint not null check (state between 0 and 2),  -- domain/workflow/run_schedule.h
  reason text,
  slots bigint not null default 1 check (slots >= 1),  -- that it stands for: of late ones several, this and those after
  run_id uuid,
  decided_at timestamptz not null default now(),
  told boolean not null default true,  -- to the schedule's channels; a waiting slot is not
  primary key (schedule_id, slot),
  check ((state = 0) = (run_id is not null)),
  check ((state = 1) = (reason is not null))
);
create index workflow_slot_untold on workflow_slot (schedule_id, slot) where not told;

-- The schedule that made a run, and its slot; none of a run that was triggered.
alter table job add column schedule_id uuid, add column scheduled_at timestamptz;
create index job_open_schedule on job (schedule_id) where finished_at is null and schedule_id is not null;
