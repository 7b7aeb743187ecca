-- A partition of one week is made also where the default partition already holds rows of that week: they move into it.
-- False: there are more of them than may move at once. Bounds are microseconds since 1970, except delivery_attempt's.
create function ensure_partition(parent text, week timestamptz, moved_rows_max int) returns boolean language plpgsql
-- Whoever waits behind these locks waits no longer than that.
set lock_timeout = '2s' as $$
declare
  name text := parent || '_' || to_char(week at time zone 'UTC', 'YYYYMMDD');
  rest text := parent || '_default';
  key_column text := case parent when 'delivery_attempt' then 'attempted_at' else 'tick_id' end;
  lower_bound text;
  upper_bound text;
  found int;
begin
  if to_regclass(name) is not null then return true; end if;
  if parent = 'delivery_attempt' then
    lower_bound := quote_literal(week);
    upper_bound := quote_literal(week + interval '7 days');
  else
    lower_bound := (extract(epoch from week) * 1000000)::bigint::text;
    upper_bound := (extract(epoch from week + interval '7 days') * 1000000)::bigint::text;
  end if;
  -- More rows than can be moved in one go stay where they are, until their retention ends.
  execute format('select count(*) from (select from only %I where %I >= %s and %I < %s limit %s) r',
                 rest, key_column, lower_bound, key_column, upper_bound, moved_rows_max + 1) into found;
  if found > moved_rows_max then return false; end if;
  -- The parent goes first, as for everybody who writes. With both locks nobody reads or writes the default partition
  -- while its rows move, so they are never missed and never seen twice.
  execute format('lock table only %I in share update exclusive mode', parent);
  execute format('lock table only %I in access exclusive mode', rest);
  execute format('create table %I (like %I including all)', name, parent);
  execute format('with moved as (delete from only %I where %I >= %s and %I < %s returning *) '
                 'insert into %I select * from moved',
                 rest, key_column, lower_bound, key_column, upper_bound, name);
  execute format('alter table %I attach partition %I for values from (%s) to (%s)',
                 parent, name, lower_bound, upper_bound);
  return true;
end $$;

-- As before, for the versions that call it.
create or replace function ensure_partitions(at timestamptz, weeks_ahead int) returns int language plpgsql as $$
declare
  parent text;
  week timestamptz;
  made int := 0;
begin
  foreach parent in array array['tick', 'check_log', 'event', 'delivery_attempt'] loop
    for k in 0..weeks_ahead loop
      week := date_trunc('week', at at time zone 'UTC') at time zone 'UTC' + k * interval '7 days';
      continue when to_regclass(parent || '_' || to_char(week at time zone 'UTC', 'YYYYMMDD')) is not null;
      if ensure_partition(parent, week, 100000) then made := made + 1; end if;
    end loop;
  end loop;
  return made;
end $$;

-- Receivers that no monitor names are forgotten; this finds whether one does.
create index monitor_endpoint on monitor (endpoint_id) where endpoint_id is not null;
