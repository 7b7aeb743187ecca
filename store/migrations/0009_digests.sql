-- Digests of channels: what is told waits, and goes together.

-- When the channel's next digest is cut; null: it is told at once.
alter table channel add column digest_at timestamptz;
create index channel_digest_due on channel (digest_at) where digest_at is not null;

create table digest_event (
  channel_id uuid not null,
  n bigint generated always as identity,
  monitor_id uuid not null,
  row_id uuid not null,
  event_group_id uuid not null,
  type smallint not null,
  created_at timestamptz not null default now(),
  digest_id uuid,  -- that tells it; null: the next one
  primary key (channel_id, n)
);
create index digest_event_told on digest_event (digest_id) where digest_id is not null;
create index digest_event_age on digest_event (created_at);

-- Channels that are told of the organisation itself; null = none. One that was deleted may still stand here.
alter table organisation add column notice_channel_ids uuid[];
create index organisation_notices on organisation (id) where notice_channel_ids is not null;

-- What an organisation is told of itself: a row is one occurrence, from when it was seen until it is over.
create table notice (
  id uuid primary key,
  org_id uuid not null references organisation,
  kind smallint not null check (kind between 0 and 6),
  about uuid not null,  -- the organisation, a team, a receiver, a monitor, a run or a schedule
  subject text,         -- its name as it was then
  created_at timestamptz not null default now(),
  ended_at timestamptz
);
create unique index notice_open on notice (org_id, kind, about) where ended_at is null;
create index notice_ended on notice (ended_at) where ended_at is not null;
create index notice_org on notice (org_id, created_at);
