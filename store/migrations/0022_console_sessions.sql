-- Sessions of people who signed in at the operator's console by the identity provider. Only the SHA-256 of the token
-- is stored. A role is what the configuration gives for one of role_values; those alone are kept that gave one at
-- the sign-in. Processes of the version before know no such sessions, and refuse them.
create table console_session (
  token_sha256 bytea primary key check (length(token_sha256) = 32),
  id uuid not null unique,
  issuer text not null,
  subject text not null,
  email text not null,
  role_values text[] not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null
);
create index console_session_expires on console_session (expires_at);
