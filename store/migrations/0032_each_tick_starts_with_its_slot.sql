-- A chunk holds ticks of slots that are some milliseconds apart, as they are cut ahead together: chunk.started_at is when the
-- first of them starts, and each of the others starts with its slot.
create or replace view open_tick as
select monitor_id, open_tick_id as tick_id, open_trigger as trigger, open_due_at as due_at,
       open_started_at as started_at, open_slots as slots, open_rows as row_count, open_large as is_large
from monitor_sched
where open_tick_id is not null
union all
select s.monitor_id, c.tick_ids[p.n], 0::smallint, t.due_at, greatest(c.started_at, t.due_at), c.slots[p.n], c.ends[p.n],
       false
from monitor_sched s
join chunk c on c.id = s.chunk_id
cross join lateral (select array_position(c.monitor_ids, s.monitor_id) as n) p
cross join lateral (select timestamptz 'epoch' + c.due_us[p.n] * interval '1 microsecond' as due_at) t
where s.open_tick_id is null;
