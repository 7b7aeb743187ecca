-- People and companies whose field values are counted (docs/search.md), and investigations (docs/investigations.md).
-- Processes of the version before know none of these tables and leave them alone.

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

-- Investigations: what a job of that kind is about, and what it has found.
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

create table finding (
  investigation_id uuid not null references investigation on delete cascade,
  seq bigint not null,  -- in the order of commits, without gaps: the investigation's lock is held from its number to COMMIT
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
