-- What pages said and looked like at the first check of their row, and whenever a watched field had changed. Processes of
-- the version before keep none.

-- Its id is that of the check. Contents are found by their digests.
create table snapshot (
  id uuid not null,
  org_id uuid not null,
  monitor_id uuid not null,
  row_id uuid not null,
  tick_id bigint not null,
  previous_id uuid,  -- of the row's snapshot before
  url text not null,
  is_rendered boolean not null,
  text_hash bytea not null,
  text_bytes int not null,  -- of the whole text, of which the beginning is kept
  picture_hash bytea,
  created_at timestamptz not null default now()
) partition by range (tick_id);
create index snapshot_row on snapshot (row_id, tick_id desc);
create index snapshot_id on snapshot (id);
-- Whether anything has a content, when what had it goes.
create index snapshot_text on snapshot (org_id, text_hash);
create index snapshot_picture on snapshot (org_id, picture_hash) where picture_hash is not null;

create table snapshot_default partition of snapshot default;
select ensure_partition('snapshot', (date_trunc('week', now() at time zone 'UTC') + k * interval '7 days')
                                    at time zone 'UTC', 0)
from generate_series(0, 3) k;

-- A text (compressed) or a picture, once an organisation however many snapshots have it.
create table snapshot_content (
  org_id uuid not null,
  hash bytea not null,
  body bytea not null,
  used_at timestamptz not null default now(),  -- when a snapshot last took it, to within a day
  primary key (org_id, hash)
);
-- Both are compressed before they come.
alter table snapshot_content alter column body set storage external;
create index snapshot_content_used on snapshot_content (used_at);

-- The snapshots between which the value of a change went from the one to the other.
alter table event add column previous_snapshot_id uuid;
alter table event add column snapshot_id uuid;
