-- What {days} days of one check a day have left of the monitors that seed.sql has made: ticks, charges, a hundred changes of each monitor and a
-- thousand of the row that is looked at, dead deliveries, and an audit. Some monitors fail, some are paused, some have a rare tag.
select ensure_partition(parent, (date_trunc('week', now() at time zone 'UTC') - k * interval '7 days') at time zone 'UTC', 1000)
from unnest(array['tick', 'event']) parent, generate_series(1, {days} / 7 + 1) k;
create temporary table bench_monitor as
select m.id, m.org_id, m.endpoint_id, s.row_count, row_number() over (order by m.id) as n from monitor m join monitor_sched s on s.monitor_id = m.id;
update monitor m set status = case when b.n % 100 = 1 then 3 else 2 end, tags = case when b.n % 100 = 2 then '{rare}'::text[] else '{all}'::text[] end
from bench_monitor b where b.id = m.id;
update monitor_sched s set live = b.n % 100 <> 1, last_run_at = now() - interval '1 hour', failing_since = case when b.n % 200 = 3 then now() end
from bench_monitor b where b.id = s.monitor_id;
create temporary table bench_tick as
select b.id, b.org_id, b.row_count, at, (extract(epoch from at) * 1000000)::bigint as tick_id
from bench_monitor b, generate_series(1, {days}) d, lateral (select date_trunc('day', now()) - d * interval '1 day' + b.n * interval '1 second' as at) t;
insert into tick (monitor_id, tick_id, org_id, trigger, due_at, started_at, finished_at, slots, row_count, counts)
select id, tick_id, org_id, 0, at, at, at + interval '1 minute', 1, row_count, array[0, 10, row_count - 10, 0, 0, 0, 0, 0, 0] from bench_tick
order by at;
-- A charge is of a chunk, of up to 256 rows.
insert into credit_entry (org_id, amount_mc, checks, tier, chunk_id, created_at)
select org_id, -256, 256, 1, gen_random_uuid(), at from bench_tick, generate_series(1, (row_count + 255) / 256) order by at;
insert into event (id, org_id, monitor_id, row_id, tick_id, event_group_id, event_type, field, previous_value, current_value, evidence, created_at)
select gen_random_uuid(), r.org_id, r.monitor_id, r.id, (extract(epoch from at) * 1000000)::bigint, gen_random_uuid(), 0, 'employees', to_json((100 + n)::text),
  to_json((101 + n)::text), 'employees: ' || 101 + n, at
from monitor_row r, generate_series(1, 100) n, lateral (select now() - n * {days} / 101.0 * interval '1 day' as at) t where r.position = n % 10;
insert into event (id, org_id, monitor_id, row_id, tick_id, event_group_id, event_type, field, previous_value, current_value, created_at)
select gen_random_uuid(), r.org_id, r.monitor_id, r.id, (extract(epoch from at) * 1000000)::bigint, gen_random_uuid(), 0, 'employees', to_json((100 + n)::text),
  to_json((101 + n)::text), at
from (select * from monitor_row where position = 0 order by monitor_id desc limit 1) r, generate_series(1, 1000) n,
  lateral (select now() - n * {days} / 1001.0 * interval '1 day' as at) t;
insert into delivery (id, org_id, monitor_id, row_id, event_group_id, type, state, available_at, attempts, endpoint_id)
select gen_random_uuid(), r.org_id, r.monitor_id, r.id, gen_random_uuid(), 0, 1, now(), 12, b.endpoint_id
from bench_monitor b join monitor_row r on r.monitor_id = b.id and r.position < 2;
insert into audit (id, at, actor, action, target, org_id, remote_address)
select gen_random_uuid(), now() - n * interval '1 minute', 'user ada@example.com', 'monitor.update', gen_random_uuid()::text, (select id from organisation), '127.0.0.1'
from generate_series(1, 10000) n;
