-- The operator's list of an organisation's sessions, newest first. Additive: binaries before it do not know it.
create index access_token_session on access_token (org_id, id desc) where kind = 2;
