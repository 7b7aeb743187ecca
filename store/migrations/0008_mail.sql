-- E-mail of channels: to whom an organisation may send it.

create table recipient (
  id uuid primary key,
  org_id uuid not null references organisation,
  -- Identifies the address (domain/channel/mail.h) when its text is gone, so that one that unsubscribed stays so.
  digest bytea not null check (length(digest) = 32),
  address text check (length(address) <= 254),
  status smallint not null default 0 check (status between 0 and 3),
  status_reason text,
  asked_at timestamptz,  -- when its owner was last asked to confirm it
  unique (org_id, digest)
);

-- Those of a channel of kind email, in the order in which they were given.
alter table channel add column recipient_ids uuid[];
alter table channel add constraint channel_recipient_ids check (cardinality(recipient_ids) <= 25) not valid;
create index channel_recipients on channel using gin (recipient_ids) where recipient_ids is not null;

-- A notification for a channel of kind email is one a recipient, so that one that fails repeats nobody else's.
alter table delivery add column recipient_id uuid;
alter table delivery_attempt add column recipient_id uuid;

-- Beside the addresses of webhooks there is the relay, as one receiver of each organisation.
alter table endpoint drop constraint endpoint_scheme_check;
alter table endpoint add constraint endpoint_scheme_check check (scheme in ('http', 'https', 'smtp')) not valid;
