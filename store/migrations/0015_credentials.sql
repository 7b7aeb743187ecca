-- OAuth clients, tokens and sessions (docs/authentication.md). Additive: processes of the version before go on under it
-- and answer bearer tokens with 401. rate_window.api_key_id holds the id of any principal from here on.
-- The numbers in smallint columns are the enums of domain/principal.h and domain/auth/.

create table oauth_client (
  id uuid primary key,
  org_id uuid not null references organisation,
  team_id uuid references team,
  name text not null check (length(name) between 1 and 255),
  disabled boolean not null default false,
  deleted_at timestamptz,
  token_version int not null default 0,    -- tokens of an older version are void
  access_token_ttl_s int check (access_token_ttl_s between 60 and 86400),
  created_by_kind smallint check (created_by_kind between 0 and 3),  -- null = the operator
  created_by_id uuid,
  created_by_label text not null,
  last_used_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index oauth_client_org on oauth_client (org_id, id desc) where deleted_at is null;

create table oauth_client_key (
  client_id uuid not null references oauth_client,
  kid text not null check (length(kid) between 1 and 255),
  algorithm smallint not null check (algorithm between 0 and 3),
  public_key bytea not null,  -- SubjectPublicKeyInfo
  created_at timestamptz not null default now(),
  revoked_at timestamptz,
  primary key (client_id, kid)
);

-- Tokens of clients and sessions of users. The token itself is nowhere.
create table access_token (
  token_sha256 bytea primary key check (length(token_sha256) = 32),
  id uuid not null unique,
  kind smallint not null check (kind between 1 and 2),
  org_id uuid not null references organisation,
  team_id uuid references team,
  principal_id uuid not null,
  principal_version int not null default 0,
  user_id text,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  check ((kind = 2) = (user_id is not null))
);
create index access_token_principal on access_token (principal_id, expires_at);
create index access_token_expires on access_token (expires_at);

-- Assertions that were taken: each is good once.
create table assertion_jti (
  client_id uuid not null,
  jti_sha256 bytea not null check (length(jti_sha256) = 32),
  expires_at timestamptz not null,
  primary key (client_id, jti_sha256)
);
create index assertion_jti_expires on assertion_jti (expires_at);

-- The users of the operator's dashboard: whom a session can be of and a call be forwarded for.
create table org_user (
  org_id uuid not null references organisation,
  user_id text not null check (length(user_id) between 1 and 200),
  name text,
  created_at timestamptz not null default now(),
  primary key (org_id, user_id)
);

alter table audit add column principal_kind smallint;
alter table audit add column principal_id uuid;
alter table audit add column on_behalf_of text;
create index audit_org on audit (org_id, at desc) where org_id is not null;

alter table job add column on_behalf_of text;
