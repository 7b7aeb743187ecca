-- A tick that one chunk holds whole is kept in the chunk alone: it is open as long as the chunk is there, and what ends it
-- is the record that deletes the chunk. Its monitor's schedule is written once, when the tick is cut.

alter table monitor_sched
  -- The chunk that its last such tick was cut into. Nothing is said of that tick in the columns open_*.
  add column chunk_id uuid;

alter table chunk
  -- Not null where the chunk holds its ticks: the lease's token, if who claimed it knows that (until then zeros). Null:
  -- its ticks are open by their schedules.
  add column holder uuid,
  add column started_at timestamptz,  -- of its ticks, which are those of slots
  -- Element i of each, as of monitor_ids, as the tick was cut: the slot in microseconds, and how many it stands for; the
  -- longest time between two slots; monitor_sched.check_ms; whether the monitor's checks failed (1, else 0).
  add column due_us bigint[],
  add column slots int[],
  add column longest_s bigint[],
  add column check_ms int[],
  add column failing smallint[];

-- Every tick that has not ended.
create view open_tick as
select monitor_id, open_tick_id as tick_id, open_trigger as trigger, open_due_at as due_at,
       open_started_at as started_at, open_slots as slots, open_rows as row_count, open_large as is_large
from monitor_sched
where open_tick_id is not null
union all
select s.monitor_id, c.tick_ids[p.n], 0::smallint, timestamptz 'epoch' + c.due_us[p.n] * interval '1 microsecond',
       c.started_at, c.slots[p.n], c.ends[p.n], false
from monitor_sched s
join chunk c on c.id = s.chunk_id
cross join lateral (select array_position(c.monitor_ids, s.monitor_id) as n) p
where s.open_tick_id is null;

-- A process of the version before looks for the open tick in the schedule. When it claims a chunk that holds its ticks,
-- they are put there, and the chunk is one as it knows them.
create function chunk_opens_its_ticks() returns trigger language plpgsql as $$
begin
  update monitor_sched s
  set open_tick_id = u.tick_id, open_due_at = timestamptz 'epoch' + u.due_us * interval '1 microsecond',
      open_started_at = new.started_at, open_slots = u.slots, open_rows = u.row_count, open_trigger = 0
  from unnest(new.monitor_ids, new.tick_ids, new.due_us, new.slots, new.ends)
    as u(monitor_id, tick_id, due_us, slots, row_count)
  where s.monitor_id = u.monitor_id and s.chunk_id = new.id and s.open_tick_id is null;
  new.holder := null;
  new.started_at := null;
  return new;
end $$;
create trigger chunk_opens_its_ticks before update of lease_token on chunk
  for each row when (new.holder <> new.lease_token) execute function chunk_opens_its_ticks();

-- A monitor has one open tick at most. Who cut this chunk may not have seen the one that is in another: it begins again.
create function chunk_opens_no_second_tick() returns trigger language plpgsql as $$
begin
  if exists (select from monitor_sched s join chunk c on c.id = s.chunk_id
             where s.monitor_id = any (new.monitor_ids) and c.holder is not null) then
    raise exception 'a tick of a monitor of this chunk is open in another chunk' using errcode = 'serialization_failure';
  end if;
  return new;
end $$;
create trigger chunk_opens_no_second_tick before insert on chunk
  for each row when (new.holder is null and new.monitor_id is null) execute function chunk_opens_no_second_tick();
