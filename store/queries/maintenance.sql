-- name: maintenance_lock
select pg_try_advisory_xact_lock(8386094145001)

-- name: partitions_missing
-- The weeks (or days, as @span says) of the table that have no partition: this one and those that follow, @spans in
-- all.
select w.week
from (select (date_trunc(@span, now() at time zone 'UTC')
                + k * ('1 ' || @span::text)::interval) at time zone 'UTC' as week
      from generate_series(0, @spans::int - 1) k) w
where to_regclass(@table::text || '_' || to_char(w.week at time zone 'UTC', 'YYYYMMDD')) is null
order by w.week

-- name: partition_ensure
-- At most @moved_rows_max rows may be moved out of the default partition; false: there are more.
select ensure_partition(@table, @week::timestamptz, @moved_rows_max::int)

-- name: partitions_old
-- Partitions whose week ended before the retention of their table. The names are ensure_partition's.
select c.relname
from pg_inherits i join pg_class c on c.oid = i.inhrelid join pg_class p on p.oid = i.inhparent
where p.relname = @table and c.relname ~ '_[0-9]{8}$' and c.relnamespace = 'public'::regnamespace
  and to_date(right(c.relname, 8), 'YYYYMMDD') + 7
      < (now() at time zone 'UTC')::date - (@kept_h * interval '1 hour')

-- name: tick_default_expire
with gone as (
  delete from only tick_default
  where ctid = any (array(
    select ctid from only tick_default
    where tick_id < extract(epoch from now() - @kept_h * interval '1 hour') * 1000000 limit @limit))
  returning 1)
select count(*) from gone

-- name: check_log_default_expire
with gone as (
  delete from only check_log_default
  where ctid = any (array(
    select ctid from only check_log_default
    where tick_id < extract(epoch from now() - @kept_h * interval '1 hour') * 1000000 limit @limit))
  returning 1)
select count(*) from gone

-- name: event_default_expire
with gone as (
  delete from only event_default
  where ctid = any (array(
    select ctid from only event_default
    where tick_id < extract(epoch from now() - @kept_h * interval '1 hour') * 1000000 limit @limit))
  returning 1)
select count(*) from gone

-- name: delivery_attempt_default_expire
with gone as (
  delete from only delivery_attempt_default
  where ctid = any (array(
    select ctid from only delivery_attempt_default
    where attempted_at < now() - @kept_h * interval '1 hour' limit @limit))
  returning 1)
select count(*) from gone

-- name: idempotency_expire_all
with gone as (
  delete from idempotency_key
  where ctid = any (array(
    select ctid from idempotency_key where created_at < now() - @kept_h * interval '1 hour' limit @limit))
  returning 1)
select count(*) from gone

-- name: rate_window_expire
with gone as (
  delete from rate_window
  where ctid = any (array(
    select ctid from rate_window where minute_at < now() - interval '10 minutes' limit @limit))
  returning 1)
select count(*) from gone

-- name: dead_expire
-- Ids are made in the order of time: only the first @limit are looked at, however many are dead. They are an array, as
-- a plan that was made while the table was empty would join: it went through everything that is pending.
with gone as (
  delete from delivery
  where id = any (array(
    select id from (select id, created_at from delivery where state :are_dead order by id limit @limit) first
    where created_at < now() - @kept_h * interval '1 hour'))
  returning 1)
select count(*) from gone

-- name: audit_expire
-- The beginning of the chain goes, as far as all of it is old, and the checkpoint moves with it. An entry that is not
-- sealed yet stays until it is.
with kept as (
  select coalesce((select seq from audit where seq is not null and at >= now() - @kept_h * interval '1 hour' order by seq limit 1),
                  (select seq + 1 from audit_chain)) as first),
gone as (
  delete from audit
  where seq = any (array(select seq from audit where seq < (select first from kept) order by seq limit @limit))
  returning seq, hash),
moved as (
  update audit_chain set kept_after = last.seq, kept_hash = last.hash
  from (select seq, hash from gone order by seq desc limit 1) last)
select count(*) from gone

-- name: email_fact_expire
with gone as (
  delete from email_fact
  where (org_id, address) in (select org_id, address from email_fact
                              where until < now() and org_id not in :arriving limit @limit)
  returning 1)
select count(*) from gone

-- name: domain_pattern_expire
with gone as (
  delete from domain_pattern
  where (org_id, domain, pattern) in (select org_id, domain, pattern from domain_pattern
                                      where last_at < now() - @kept_h * interval '1 hour'
                                        and org_id not in :arriving limit @limit)
  returning 1)
select count(*) from gone

-- name: company_domain_expire
with gone as (
  delete from company_domain
  where (org_id, company_key, domain) in (select org_id, company_key, domain from company_domain
                                          where last_at < now() - @kept_h * interval '1 hour'
                                            and org_id not in :arriving limit @limit)
  returning 1)
select count(*) from gone

-- name: mail_domain_expire
with gone as (
  delete from mail_domain
  where domain in (select domain from mail_domain
                   where greatest(mx_at, accepts_all_at) < now() - @kept_h * interval '1 hour' limit @limit)
  returning 1)
select count(*) from gone

-- name: mail_host_expire
with gone as (
  delete from mail_host
  where key in (select key from mail_host
                where greatest(updated_at, blocked_until) < now() - @kept_h * interval '1 hour' limit @limit)
  returning 1)
select count(*) from gone

-- name: mail_budget_expire
-- The longest window is a day.
with gone as (
  delete from mail_budget
  where key in (select key from mail_budget where window_at < now() - interval '2 days' limit @limit)
  returning 1)
select count(*) from gone

-- name: deleted_rows_expire
-- Rows of monitors that were deleted @kept_h ago, with their states.
with gone as (
  delete from monitor_row
  where (monitor_id, position) in (select r.monitor_id, r.position
                                   from monitor m
                                   cross join lateral (select monitor_id, position from monitor_row
                                                       where monitor_id = m.id limit @limit) r
                                   where m.deleted_at < now() - @kept_h * interval '1 hour'
                                     and m.org_id not in :arriving
                                   limit @limit)
  returning monitor_id, position
), states as (
  delete from state_block b using gone where b.monitor_id = gone.monitor_id and b.block = gone.position / :block_rows
)
select count(*) from gone

-- name: deleted_monitors_expire
-- Those of them whose rows are gone, and no tick of which is open.
with due as (
  select m.id
  from monitor m
  join monitor_sched s on s.monitor_id = m.id
  where m.deleted_at < now() - @kept_h * interval '1 hour' and s.open_tick_id is null
    and not exists (select from chunk c where c.id = s.chunk_id)
    and not exists (select from monitor_row r where r.monitor_id = m.id)
  limit @limit
), imports as (
  delete from monitor_import where monitor_id in (select id from due)
), schedules as (
  delete from monitor_sched where monitor_id in (select id from due)
), gone as (
  delete from monitor where id in (select id from due) returning 1
)
select count(*) from gone
