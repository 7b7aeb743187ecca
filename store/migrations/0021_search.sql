-- People and companies whose field values are counted (docs/search.md). Processes of the version before know none of these
-- tables and leave them alone.

-- One import of documents. What is current is what callers see: the shared documents (no organisation) and their own.
create table search_import (
  id uuid primary key,  -- the caller's
  mode smallint not null check (mode between 0 and 1),  -- domain/search/fields.h
  org_id uuid references organisation,
  state smallint not null default 0 check (state between 0 and 3),  -- domain/search/document.h
  lines bigint not null default 0 check (lines >= 0),  -- received
  documents bigint check (documents >= 0),  -- once it is current
  touched_at timestamptz not null default now()
);
create unique index search_import_current
  on search_import (mode, coalesce(org_id, '00000000-0000-0000-0000-000000000000')) where state = 2;

-- Without a foreign key: documents are deleted in batches before their import is.
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
