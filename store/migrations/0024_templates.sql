-- Monitors that blocks of runs make, and organisations' own templates of workflows. Additive: processes of the version
-- before go on beside it.

-- Of a block `monitor`: what it has made, once its first part is recorded.
alter table job_block add column monitor_id uuid;

-- Templates that belong to an organisation; those of everybody are compiled in.
create table workflow_template (
  id uuid primary key,
  org_id uuid not null references organisation,
  slug text not null check (length(slug) between 1 and 100),
  document json not null,  -- domain/workflow/template.h
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (org_id, slug)
);
create index workflow_template_org on workflow_template (org_id, id);
