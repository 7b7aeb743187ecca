-- Additive: processes of the version before go on under it, and leave these columns as they are.

-- What the fleet has seen in a row of a host that is not blocked yet: the domains about which it refused us, and
-- connections that failed.
alter table mail_host
  add column refused_for text[] not null default '{}',
  add column connect_failures int not null default 0;
