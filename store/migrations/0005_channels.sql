-- Channels: where people are told, beside the webhook_url of a monitor.

create table channel (
  id uuid primary key,
  org_id uuid not null references organisation,
  name text not null check (length(name) between 1 and 200),
  kind smallint not null check (kind between 0 and 6),
  -- The address. That of a chat lets everybody write there who knows it: it is sealed as signing secrets are, with
  -- its organisation as associated text, and shown_url is what is shown of it.
  url text check (length(url) <= 2083),
  sealed_url bytea,
  sealed_url_key_id text,
  shown_url text,
  tag text,  -- that an Apprise API is asked for
  -- No reference, as processes that do not know channels forget receivers that no monitor refers to.
  endpoint_id uuid,
  events smallint[] not null,
  digest text not null default 'none',
  include_values boolean not null default true,
  locale text,
  status smallint not null default 0 check (status between 0 and 2),
  status_reason text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  check (num_nonnulls(url, sealed_url) <= 1),
  check ((sealed_url is null) = (sealed_url_key_id is null) and (sealed_url is null or shown_url is not null))
);
create index channel_org on channel (org_id, id desc);
create index channel_endpoint on channel (endpoint_id) where endpoint_id is not null;

-- Channels that a monitor's checks are told to; null = none. One that was deleted may still stand here.
alter table monitor add column channel_ids uuid[];
alter table monitor add constraint monitor_channel_ids check (cardinality(channel_ids) between 1 and 10) not valid;
create index monitor_channels on monitor using gin (channel_ids) where channel_ids is not null;

-- Deliveries of channels have states of their own, three above those of others: processes that do not know channels look
-- for 0 (pending) and 1 (dead), and so leave them to those that do.
alter table delivery add column channel_id uuid;
alter table delivery drop constraint delivery_state_check;
alter table delivery add constraint delivery_state_check
  check (state between 0 and 4 and state <> 2 and (channel_id is null) = (state < 3)) not valid;
drop index delivery_due;
create index delivery_due on delivery (endpoint_id, available_at) where state in (0, 3);
drop index delivery_dead;
create index delivery_dead on delivery (id) where state in (1, 4);
alter table delivery_attempt add column channel_id uuid;
-- What became of a channel's notifications, newest first.
create index delivery_channel on delivery (channel_id, id desc) where channel_id is not null;
create index delivery_attempt_channel on delivery_attempt (channel_id, delivery_id desc) where channel_id is not null;
