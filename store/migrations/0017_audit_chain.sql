-- The audit as a chain of hashes (store/audit_chain.h). Entries are written as before, without what is added here; one
-- process at a time seals them soon after, in order. Processes of the version before write entries that are sealed
-- likewise, and delete old ones without moving the checkpoint, which the next deletion here does.
alter table audit
  add column seq bigint,            -- its place in the chain, from 1 without a gap; null until it is sealed
  add column salt bytea,            -- with which `details` was made; null where the entry was erased
  add column details bytea,         -- the digest of what may name a person
  add column hash bytea,
  add column erased_at timestamptz;
create unique index audit_seq on audit (seq);
create index audit_unsealed on audit (at, id) where seq is null;

create table audit_chain (
  only_one boolean primary key default true check (only_one),
  -- The last sealed entry, and the last one that retention has deleted.
  seq bigint not null default 0,
  hash bytea not null default decode(repeat('00', 32), 'hex') check (length(hash) = 32),
  kept_after bigint not null default 0,
  kept_hash bytea not null default decode(repeat('00', 32), 'hex') check (length(kept_hash) = 32)
);
insert into audit_chain default values;
