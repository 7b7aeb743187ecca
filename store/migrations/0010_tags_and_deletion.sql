-- Tags of monitors, and monitors that their owner has deleted.

-- Words of the owner's, each once; null = none.
alter table monitor add column tags text[];
alter table monitor add constraint monitor_tags check (cardinality(tags) between 1 and 20) not valid;

-- What an organisation's monitors with some tags are found by: each tag behind its organisation, so that nobody else's
-- monitors with the same tag are looked at.
create function monitor_tag_keys(org_id uuid, tags text[]) returns text[] language sql immutable as $$
  select array(select org_id::text || ' ' || tag from unnest(tags) tag)
$$;
create index monitor_tags on monitor using gin (monitor_tag_keys(org_id, tags)) where tags is not null;

-- Since when its owner has deleted it; null = never. It is archived, too, so that processes that do not know this
-- column leave it out of their lists.
alter table monitor add column deleted_at timestamptz;
alter table monitor add constraint monitor_deleted check (deleted_at is null or archived_at is not null) not valid;
create index monitor_deleted on monitor (deleted_at) where deleted_at is not null;
