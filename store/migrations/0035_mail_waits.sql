-- Additive: processes of the version before go on under it, and leave these columns as they are.

-- What a part that was put back waits for, a number of domain/job_wait.h; null: nothing that clients are told. It says
-- something while nobody holds the part.
alter table job_chunk add column waits_for smallint;
create index job_chunk_waits on job_chunk (job_id) where waits_for is not null;

-- What the fleet has seen in a row of a host that is not blocked yet: the domains about which it refused us, and
-- connections that failed.
alter table mail_host
  add column refused_for text[] not null default '{}',
  add column connect_failures int not null default 0;
