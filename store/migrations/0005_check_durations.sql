-- How long a member's checks take, so that schedulers cut smaller chunks where they are slow: average milliseconds by
-- tier (micro, low, medium, high), 0 = none made yet. Empty of a member that makes no checks.
alter table member add column check_ms int[] not null default '{}';
