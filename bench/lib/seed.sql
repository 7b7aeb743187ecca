-- Organisations, monitors and rows of a benchmark, written straight into the tables: :orgs organisations with
-- :monitors monitors each of :rows rows each. Nothing is due yet.
-- Ids are made as the API makes them: UUIDv7, a later one sorts behind an earlier one.
create temporary sequence ids;
create function pg_temp.next_id() returns uuid as $$
  select (lpad(to_hex(1790000000000 + nextval('ids')), 12, '0') || '7'
          || substr(md5(random()::text), 1, 3) || '8' || substr(md5(random()::text), 1, 15))::uuid
$$ language sql volatile;
create function pg_temp.seed(orgs int, monitors int, row_count int, webhook_url text) returns void as $$
declare
  o uuid; e uuid; m uuid;
begin
  for i in 1..orgs loop
    o := pg_temp.next_id();
    insert into organisation (id, name, features) values (o, 'Organisation ' || i, array['monitors']);
    insert into account (org_id, balance_mc) values (o, 1e15);
    insert into credit_entry (org_id, amount_mc, reason) values (o, 1e15, 'bench');
    e := null;
    if webhook_url is not null then
      e := pg_temp.next_id();
      insert into endpoint (id, org_id, scheme, host, port) values (e, o, 'http', '127.0.0.1', 9);
    end if;
    for j in 1..monitors loop
      m := pg_temp.next_id();
      insert into monitor (id, org_id, name, frequency, tier, subject_type, status, key_columns, struct, metadata,
                           webhook_url, webhook_event_types, endpoint_id, control_changed_at)
      values (m, o, 'Monitor ' || j, '1d', 1, 0, 2, '{company}', '{"employees": "css:#employees"}', '{"ref": "bench"}',
              webhook_url, case when webhook_url is null then '{}' else '{0,1,2}'::smallint[] end, e, now() - interval '1 day');
      insert into monitor_sched (monitor_id, org_id, tier, live, frequency_s, anchor_at, next_run_at, row_count,
                                 active_row_count)
      values (m, o, 1, true, 86400, now(), now() + interval '1 day', row_count, row_count);
      insert into monitor_row (monitor_id, position, id, org_id, key_hash, subject, context, baseline)
      select m, n - 1, pg_temp.next_id(), o, decode(md5(n::text), 'hex'),
             json_build_object('company', 'Company ' || n, 'domain', 'company' || n || '.example'),
             '{"country": "Sweden"}', json_build_object('employees', (100 + n % 900)::text)
      from generate_series(1, row_count) n;
      insert into state_block (monitor_id, block, outcomes, last_run_at)
      select m, n / 256, decode(repeat('00', least(row_count - n, 256)), 'hex'), now() - interval '1 day'
      from generate_series(0, row_count - 1, 256) n;
    end loop;
  end loop;
end $$ language plpgsql;
select pg_temp.seed({orgs}, {monitors}, {rows}, {webhook_url});
