-- {orgs} organisations that share {monitors} monitors of one row each, due tomorrow, written straight into the tables: a thousandth of the
-- monitors fails, another one is paused, a hundredth is archived, and each hundred belong to one run of a tenant's.
create table bench_org as
select n, gen_random_uuid() as id from generate_series(1, {orgs}) n;
insert into organisation (id, name, features) select id, 'Organisation ' || n, array['monitors'] from bench_org;
insert into account (org_id, balance_mc) select id, 1e15 from bench_org;
insert into credit_entry (org_id, amount_mc, reason) select id, 1e15, 'bench' from bench_org;
-- Ids are made as the API makes them: UUIDv7, a later one sorts behind an earlier one.
create table bench_monitor as
select g.n, (lpad(to_hex(1690000000000 + g.n), 12, '0') || '7' || substr(md5(g.n::text), 1, 3) || '8' || substr(md5(g.n::text), 4, 15))::uuid as id,
  o.id as org_id, case when g.n / {orgs} % 1000 = 501 then 3 else 2 end as status,
  g.n / {orgs} % 1000 = 1 as fails, g.n % 100 = 7 as archived
from generate_series(1, {monitors}) g (n) join bench_org o on o.n = 1 + g.n % {orgs};
insert into monitor (id, org_id, name, frequency, tier, subject_type, status, key_columns, struct, run_id, archived_at)
select id, org_id, 'Watch of company ' || n, '1d', 1, 0, status, '{company}', '{"employees": "css:#employees"}', 'run-' || n / 100,
  case when archived then now() end
from bench_monitor order by n;
insert into monitor_sched (monitor_id, org_id, tier, live, frequency_s, anchor_at, next_run_at, row_count, active_row_count, failing_since)
select id, org_id, 1, status = 2 and not archived, 86400, now(), now() + interval '1 day' + n * interval '1 ms', 1, 1,
  case when fails then now() end
from bench_monitor order by n;
insert into monitor_row (monitor_id, position, id, org_id, key_hash, subject, baseline)
select id, 0, gen_random_uuid(), org_id, decode(md5(n::text), 'hex'), json_build_object('company', 'Company ' || n),
  '{"employees": "100"}'
from bench_monitor order by n;
insert into state_block (monitor_id, block, outcomes, last_run_at) select id, 0, '\x00', now() - interval '1 day' from bench_monitor order by n;
