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
