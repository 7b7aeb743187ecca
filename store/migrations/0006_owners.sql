-- What an API key may be used for (none: for everything), and until when (null: for ever).
alter table api_key add column scopes text[] not null default '{}', add column expires_at timestamptz;

-- Deliveries that were given up, as an organisation lists and replays them.
create index delivery_dead_of_org on delivery (org_id, id) where state in (1, 4);
