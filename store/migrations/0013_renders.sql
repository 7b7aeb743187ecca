-- Pages that processes without a browser hand to those of the role browser (store/renders.h). Unlogged: what a
-- crash of the database empties is asked for again by its checks. Processes of the version before know nothing of it.
create unlogged table render (
  id uuid primary key,
  org_id uuid not null,             -- in whose turn it is rendered
  state smallint not null,          -- store::RenderState
  requested_at timestamptz not null default now(),
  asked_until timestamptz not null,  -- who asks for it is there until then, or renews this
  request bytea not null,
  lease_token uuid,                 -- of the process that has it in its browser
  leased_until timestamptz not null default '-infinity',
  claims smallint not null default 0,
  answer bytea
);
-- They are compressed already, and of no use in parts.
alter table render alter column request set storage external, alter column answer set storage external;
create index render_open on render (org_id, requested_at) where answer is null;
create index render_left on render (asked_until);
