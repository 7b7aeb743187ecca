-- Other ways of signing in at the dashboard than a password, and members of one team.

-- What an authenticator made for a person (WebAuthn), whichever organisations he is a member of. sign_count is what it
-- said last, 0 for one that does not count; public_key is a SubjectPublicKeyInfo.
create table passkey (
  id uuid primary key,
  email text not null check (length(email) between 3 and 200),
  credential_id bytea not null unique check (length(credential_id) between 1 and 1023),
  public_key bytea not null,
  algorithm smallint not null,
  sign_count bigint not null,
  name text not null,
  created_at timestamptz not null default now(),
  last_used_at timestamptz
);
create index passkey_email on passkey (email, id);

-- Secrets that work once, for a while: challenges of passkeys, a sign-in at the identity provider that is under way, a
-- member who has yet to choose an organisation, and links to a new password. Of a secret only the SHA-256 is stored.
-- What it is for, store/accounts/sign_in.h says; what it is bound to depends on that.
create table one_time_secret (
  secret_sha256 bytea primary key check (length(secret_sha256) = 32),
  purpose smallint not null,
  email text,
  org_id uuid references organisation,
  invitation_sha256 bytea,
  expires_at timestamptz not null
);
create index one_time_secret_expires on one_time_secret (expires_at);

-- A member of one team sees and changes what is the team's, as a key with a team does; processes of the version before
-- let him see everything. by_provider: he is a member because the identity provider has vouched for his address, and
-- comes in by the provider alone.
alter table org_user add column team_id uuid references team, add column by_provider boolean not null default false;
alter table invitation add column team_id uuid references team;
