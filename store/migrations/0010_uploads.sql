-- What an organisation's uploads take until a monitor is made from them, and what became of imports.

alter table upload
  add column bytes bigint not null default 0 check (bytes >= 0),  -- of its parts
  add column used_at timestamptz;                                 -- when a monitor was first made from it
create index upload_org on upload (org_id);

-- Of the part that comes next: how often adding it has failed, and when it is tried again.
alter table monitor_import
  add column failures int not null default 0 check (failures >= 0),
  add column not_before timestamptz not null default now();
