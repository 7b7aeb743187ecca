-- What the page of a row looked like when a check of it last failed in a browser: one picture a row. Processes of the
-- version before keep none.
create table failed_page (
  row_id uuid primary key,
  id uuid not null,  -- of the check
  org_id uuid not null,
  monitor_id uuid not null,
  picture bytea not null,
  failed_at timestamptz not null default now()
);
-- Pictures are compressed before they come.
alter table failed_page alter column picture set storage external;
create index failed_page_id on failed_page (id);
create index failed_page_failed_at on failed_page (failed_at);
