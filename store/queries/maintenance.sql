-- name: maintenance_lock
select pg_try_advisory_xact_lock(8386094145001)

-- name: partitions_missing
-- Of the table $1, the weeks (or days: $3) from this one on, $2 of them, that have no partition.
select w.week
from (select (date_trunc($3, now() at time zone 'UTC') + k * ('1 ' || $3::text)::interval) at time zone 'UTC' as week
      from generate_series(0, $2::int - 1) k) w
where to_regclass($1::text || '_' || to_char(w.week at time zone 'UTC', 'YYYYMMDD')) is null
order by w.week

-- name: partition_ensure
-- $3 rows may be moved out of the default partition; false: there are more.
select ensure_partition($1, $2::timestamptz, $3::int)

-- name: partitions_old
-- Partitions whose week ended before the retention of their table. The names are ensure_partition's.
select c.relname
from pg_inherits i join pg_class c on c.oid = i.inhrelid join pg_class p on p.oid = i.inhparent
where p.relname = $1 and c.relname ~ '_[0-9]{8}$' and c.relnamespace = 'public'::regnamespace
  and to_date(right(c.relname, 8), 'YYYYMMDD') + 7
      < (now() at time zone 'UTC')::date - ($2 * interval '1 hour')

-- name: tick_default_expire
-- $1 hours; $2 rows
with gone as (
  delete from only tick_default
  where ctid = any (array(
    select ctid from only tick_default
    where tick_id < extract(epoch from now() - $1 * interval '1 hour') * 1000000 limit $2))
  returning 1)
select count(*) from gone

-- name: check_log_default_expire
with gone as (
  delete from only check_log_default
  where ctid = any (array(
    select ctid from only check_log_default
    where tick_id < extract(epoch from now() - $1 * interval '1 hour') * 1000000 limit $2))
  returning 1)
select count(*) from gone

-- name: event_default_expire
with gone as (
  delete from only event_default
  where ctid = any (array(
    select ctid from only event_default
    where tick_id < extract(epoch from now() - $1 * interval '1 hour') * 1000000 limit $2))
  returning 1)
select count(*) from gone

-- name: delivery_attempt_default_expire
with gone as (
  delete from only delivery_attempt_default
  where ctid = any (array(
    select ctid from only delivery_attempt_default
    where attempted_at < now() - $1 * interval '1 hour' limit $2))
  returning 1)
select count(*) from gone

-- name: idempotency_expire_all
-- $1 hours; $2 rows
with gone as (
  delete from idempotency_key
  where (org_id, key) in (select org_id, key from idempotency_key
                          where created_at < now() - $1 * interval '1 hour' limit $2)
  returning 1)
select count(*) from gone

-- name: rate_window_expire
with gone as (
  delete from rate_window
  where (api_key_id, minute_at) in (select api_key_id, minute_at from rate_window
                                    where minute_at < now() - interval '10 minutes' limit $1)
  returning 1)
select count(*) from gone

-- name: dead_expire
-- Ids are made in the order of time: only the first $2 are looked at, however many are dead.
with gone as (
  delete from delivery
  where id in (select id from (select id, created_at from delivery where state = :delivery_dead order by id limit $2) first
               where created_at < now() - $1 * interval '1 hour')
  returning 1)
select count(*) from gone

-- name: audit_expire
with gone as (
  delete from audit
  where id in (select id from audit where at < now() - $1 * interval '1 hour' limit $2)
  returning 1)
select count(*) from gone

-- name: email_fact_expire
with gone as (
  delete from email_fact
  where (org_id, address) in (select org_id, address from email_fact where until < now() limit $1)
  returning 1)
select count(*) from gone

-- name: domain_pattern_expire
-- $1 hours; $2 rows
with gone as (
  delete from domain_pattern
  where (org_id, domain, pattern) in (select org_id, domain, pattern from domain_pattern
                                      where last_at < now() - $1 * interval '1 hour' limit $2)
  returning 1)
select count(*) from gone

-- name: company_domain_expire
-- $1 hours; $2 rows
with gone as (
  delete from company_domain
  where (org_id, company_key, domain) in (select org_id, company_key, domain from company_domain
                                          where last_at < now() - $1 * interval '1 hour' limit $2)
  returning 1)
select count(*) from gone

-- name: mail_domain_expire
with gone as (
  delete from mail_domain
  where domain in (select domain from mail_domain
                   where greatest(mx_at, accepts_all_at) < now() - $1 * interval '1 hour' limit $2)
  returning 1)
select count(*) from gone

-- name: mail_host_expire
with gone as (
  delete from mail_host
  where key in (select key from mail_host
                where greatest(updated_at, blocked_until) < now() - $1 * interval '1 hour' limit $2)
  returning 1)
select count(*) from gone

-- name: mail_budget_expire
-- The longest window is a day.
with gone as (
  delete from mail_budget
  where key in (select key from mail_budget where window_at < now() - interval '2 days' limit $1)
  returning 1)
select count(*) from gone
