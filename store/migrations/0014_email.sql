-- Email addresses: facts about mail servers, what organisations have learnt, and what must not be
-- looked up. Processes of the version before know none of these tables and leave them alone.

-- Facts of the network, which belong to no organisation. `mx_kind` and `class` are numbers of
-- domain/email/mail_class.h.
create table mail_domain (
  domain text primary key,  -- A-labels in lower case
  mx_kind smallint not null,
  hosts text[] not null,  -- best first
  class smallint not null,
  mx_at timestamptz not null,
  control text not null,  -- the local part that should not exist, kept so that greylisting lets it pass
  control_at timestamptz not null,
  accepts_all smallint not null default 0 check (accepts_all between 0 and 2),  -- not known, no, yes
  accepts_all_at timestamptz,
  recipients_max smallint,  -- of one connection, as the host showed; empty: as its class says
  recipients_at timestamptz
);

-- Hosts that refuse us or do not answer.
create table mail_host (
  key text primary key,  -- EHLO name and class, or network
  failures int not null default 0,
  blocked_until timestamptz,
  reason smallint,
  last_reply text check (length(last_reply) <= 300),  -- for the operator; addresses in it are replaced
  updated_at timestamptz not null
);

-- Permits of the fleet to name recipients. A window begins with its first use. After a crash of the
-- database the windows begin again.
create unlogged table mail_budget (
  key text primary key,
  window_at timestamptz not null,
  used int not null
) with (fillfactor = 50);

-- What an organisation has learnt of an address. Nobody else sees it (G8).
create table email_fact (
  org_id uuid not null references organisation,
  address text not null,  -- its key: lower case
  person_key bytea,  -- 16 bytes of the SHA-256 of folded name and domain
  verdict smallint not null,
  reason smallint,
  stated boolean not null,
  provider text not null,
  sources json,
  checked_at timestamptz not null,
  until timestamptz not null,
  primary key (org_id, address)
);
create index email_fact_person on email_fact (org_id, person_key);
create index email_fact_until on email_fact (until);

-- How addresses of a domain are made from names, as an organisation has learnt it.
create table domain_pattern (
  org_id uuid not null references organisation,
  domain text not null,
  pattern smallint not null,
  hits int not null,
  misses int not null,
  last_at timestamptz not null,
  primary key (org_id, domain, pattern)
);

-- What the doctor of a member that verifies addresses found.
alter table member add column mail_check json;
