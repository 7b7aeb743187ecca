-- Members of organisations: people who sign in at the dashboard.

-- What a person signs in with, whichever organisations he is a member of. A password is stored as argon2 writes it.
create table member_password (
  email text primary key check (length(email) between 3 and 200),
  password text not null,
  changed_at timestamptz not null default now()
);

-- What a member may do (domain/auth/member_role.h); null for users of the operator's own dashboard, who may do everything.
-- The user_id of a member is his address.
alter table org_user add column role smallint check (role between 0 and 2);
create index org_user_member on org_user (user_id) where role is not null;

-- Links that let their holder in once. Of a link only the SHA-256 is stored.
create table invitation (
  id uuid primary key,
  org_id uuid not null references organisation,
  email text not null check (length(email) between 3 and 200),
  role smallint not null check (role between 0 and 2),
  token_sha256 bytea not null unique check (length(token_sha256) = 32),
  invited_by text not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null
);
create index invitation_org on invitation (org_id, id desc);
create index invitation_expires on invitation (expires_at);
