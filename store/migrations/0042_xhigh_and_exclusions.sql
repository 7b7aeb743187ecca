-- The feature `xhigh`: the tier xhigh of enrichment. Processes of the version before show it and know no such tier.
alter table organisation drop constraint organisation_features_check;
alter table organisation add constraint organisation_features_check
  check (features <@ array['monitors', 'testing_monitors', 'high_tier', 'xhigh']);

-- Saved lists of documents that counts leave out (docs/search.md). Processes of the version before know nothing of them.
create table search_exclusion (
  id uuid primary key,
  org_id uuid not null references organisation,
  name text not null check (length(name) between 1 and 200),
  mode smallint not null check (mode between 0 and 1),  -- whose documents: domain/search/fields.h
  state smallint not null default 0 check (state between 0 and 1),  -- domain/search/exclusions.h
  entities int not null default 0 check (entities >= 0),  -- different ids
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index search_exclusion_org on search_exclusion (org_id, id);

create table search_exclusion_entity (
  list_id uuid not null references search_exclusion on delete cascade,
  entity_id text not null,
  primary key (list_id, entity_id)
);
