-- Which domains an organisation's own leads have named for a company, so that a lead with the company alone gets one.
-- Nobody else sees it (G8). Processes of the version before know nothing of it and leave it alone.
create table company_domain (
  org_id uuid not null references organisation,
  company_key bytea not null check (length(company_key) = 16),  -- of the SHA-256 of the folded name
  domain text not null,  -- A-labels in lower case
  hits int not null check (hits > 0),  -- leads that named it
  last_at timestamptz not null,
  primary key (org_id, company_key, domain)
);
