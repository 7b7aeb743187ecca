-- The statements of the version before jobs, as its processes prepare them. They go on beside this version while a fleet is
-- replaced, so every migration has to leave them valid (test_old_beside_new.py).

-- name: org_insert
insert into organisation (id, name, features) values ($1, $2, $3::text[])

-- name: account_insert
insert into account (org_id) values ($1)

-- name: org_exists
select from organisation where id = $1

-- name: orgs_read
select o.id, o.name, o.locked, o.features, o.created_at, a.balance_mc,
  r.reserved_mc,
  (select coalesce(sum(e.amount_mc), 0)::bigint
   from credit_entry e where e.org_id = o.id and e.checks is null)
    - a.balance_mc - r.reserved_mc as charged_mc
from organisation o
join account a on a.org_id = o.id
cross join lateral (
  select coalesce(sum(c.reserved_mc), 0)::bigint as reserved_mc from chunk c where c.org_id = o.id) r
where o.id = any ($1::uuid[])
order by o.id desc

-- name: orgs_page
select id
from organisation
where ($1::text is null or name ilike '%' || $1 || '%' or id = $2::uuid)
  and ($3::uuid is null or id < $3)
order by id desc
limit $4

-- name: teams_read
select t.org_id, t.id, t.name, t.spend_limit_mc, coalesce(s.spent_mc, 0) as spent_mc
from team t
left join team_spend s
  on s.team_id = t.id and s.month = date_trunc('month', now() at time zone 'UTC')::date
where t.org_id = any ($1::uuid[])
order by t.org_id, t.created_at, t.id

-- name: team_read
select t.org_id, t.id, t.name, t.spend_limit_mc, coalesce(s.spent_mc, 0) as spent_mc
from team t
left join team_spend s
  on s.team_id = t.id and s.month = date_trunc('month', now() at time zone 'UTC')::date
where t.org_id = $1 and t.id = $2

-- name: team_insert
insert into team (id, org_id, name, spend_limit_mc) values ($1, $2, $3, $4)

-- name: team_update
update team
set name = coalesce($3::text, name),
    spend_limit_mc = case when $4::boolean then $5::bigint else spend_limit_mc end
where org_id = $1 and id = $2
returning id

-- name: account_lock
select balance_mc from account where org_id = $1 for update

-- name: account_add
update account set balance_mc = balance_mc + $2 where org_id = $1 returning balance_mc

-- name: credit_entry_insert
insert into credit_entry (org_id, amount_mc, reason) values ($1, $2, $3)

-- name: api_key_insert
insert into api_key (id, org_id, team_id, name, prefix, key_sha256)
values ($1, $2, $3, $4, $5, $6::bytea)

-- name: api_keys_list
select id, name, prefix, team_id, created_at
from api_key
where org_id = $1 and revoked_at is null and ($2::uuid is null or id < $2)
order by id desc
limit $3

-- name: api_key_revoke
update api_key set revoked_at = now()
where org_id = $1 and id = $2 and revoked_at is null
returning id

-- name: audit_insert
insert into audit (id, actor, action, target, org_id, reason, detail, remote_address)
values ($1, $2, $3, $4, $5, $6, $7::json, $8)

-- name: audit_list
select id, at, actor, action, target, org_id, reason, detail, remote_address
from audit
where $1::timestamptz is null or (at, id) < ($1::timestamptz, $2::uuid)
order by at desc, id desc
limit $3

-- name: authenticate
with found as (
  select k.id, k.org_id, k.team_id, k.key_sha256, o.locked, o.features
  from api_key k
  join organisation o on o.id = k.org_id
  where k.prefix = $1 and k.key_sha256 = $2 and k.revoked_at is null
), counted as (
  insert into rate_window (api_key_id, minute_at, requests)
  select id, date_trunc('minute', now()), 1 from found where $3::boolean
  on conflict (api_key_id, minute_at) do update set requests = rate_window.requests + 1
  returning requests
)
select f.id, f.org_id, f.team_id, f.key_sha256, f.locked, f.features,
       coalesce((select requests from counted), 0) as requests,
       date_trunc('minute', now()) + interval '1 minute' as minute_ends_at
from found f

-- name: chunk_walk
with recursive walk(org_id, n) as (
  (select org_id, 1 from chunk where org_id > $1 order by org_id limit 1)
  union all
  select (select c.org_id from chunk c where c.org_id > w.org_id order by c.org_id limit 1), w.n + 1
  from walk w
  where w.org_id is not null and w.n < $2
)
select w.org_id, c.row_count, c.monitor_id
from walk w
left join lateral (select row_count, monitor_id from chunk
                   where org_id = w.org_id and available_at <= now() order by available_at limit 1) c on true
where w.org_id is not null
order by w.org_id

-- name: chunk_claim
with due as materialized (
  select s.org_id, s.rows_max, c.id, c.row_count, c.available_at
  from unnest($1::uuid[], $2::int[], $3::int[]) as s(org_id, chunks_max, rows_max)
  cross join lateral (
    select id, row_count, available_at from chunk
    where org_id = s.org_id and available_at <= now()
    order by available_at
    limit s.chunks_max
    for update skip locked
  ) c
),
picked as (
  select id
  from (select id, rows_max,
               sum(row_count) over (partition by org_id order by available_at, id) - row_count as before
        from due) d
  where before < rows_max
)
update chunk c
set available_at = now() + $5 * interval '1 millisecond', lease_token = $4, claims = c.claims + 1
from picked p
where c.id = p.id
returning c.id, c.org_id, c.team_id, c.tier, c.monitor_id is not null, c.claims, c.due_at, c.reserved_mc,
          c.price_mc, coalesce(c.month, date_trunc('month', now() at time zone 'UTC')::date), c.monitor_ids, c.tick_ids, c.firsts, c.ends, now()

-- name: monitor_specs
select m.id, m.org_id, m.tier, m.subject_type,
       m.status = 2, not o.locked and 'monitors' = any(o.features),
       m.struct, m.research_plan, m.confirm_after, m.missing_confirmations, s.frequency_s,
       m.webhook_url, m.webhook_event_types, m.endpoint_id, coalesce(e.available_at > now(), false),
       case when m.webhook_url is not null then m.metadata end,
       s.open_tick_id, s.open_due_at, s.open_started_at, s.open_slots, s.open_trigger
from monitor m
join organisation o on o.id = m.org_id
join monitor_sched s on s.monitor_id = m.id
left join endpoint e on e.id = m.endpoint_id
where m.id = any($1::uuid[])

-- name: rows_of_parts
select p.n, r.position, r.id, r.is_active, r.subject, r.context, r.baseline, r.known, r.pending
from unnest($1::uuid[], $2::int[], $3::int[]) with ordinality as p(monitor_id, first, ending, n)
join monitor_row r on r.monitor_id = p.monitor_id and r.position >= p.first and r.position < p.ending

-- name: states_of_parts
select p.n, s.position, s.last_tick_id, s.outcome, s.last_run_at
from unnest($1::uuid[], $2::int[], $3::int[]) with ordinality as p(monitor_id, first, ending, n)
join row_state s on s.monitor_id = p.monitor_id and s.position >= p.first and s.position < p.ending

-- name: accounts_lock
select org_id, balance_mc from account where org_id = any($1::uuid[]) order by org_id for update

-- name: team_spend_ensure
insert into team_spend (team_id, month)
select * from unnest($1::uuid[], $2::date[])
on conflict do nothing

-- name: team_spend_lock
select s.team_id, s.month, s.spent_mc, t.spend_limit_mc
from unnest($1::uuid[], $2::date[]) as u(team_id, month)
join team_spend s on s.team_id = u.team_id and s.month = u.month
join team t on t.id = s.team_id
order by s.team_id, s.month
for update of s

-- name: accounts_reserve
update account a set balance_mc = a.balance_mc - u.amount_mc
from unnest($1::uuid[], $2::bigint[]) as u(org_id, amount_mc)
where a.org_id = u.org_id

-- name: team_spend_add
update team_spend s set spent_mc = s.spent_mc + u.amount_mc
from unnest($1::uuid[], $2::date[], $3::bigint[]) as u(team_id, month, amount_mc)
where s.team_id = u.team_id and s.month = u.month

-- name: chunk_reserve
update chunk c
set reserved_mc = c.reserved_mc + u.amount_mc, price_mc = u.price_mc, month = u.month
from unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::date[]) as u(id, amount_mc, price_mc, month)
where c.id = u.id

-- name: chunk_renew
update chunk c set available_at = now() + $3 * interval '1 millisecond'
from unnest($1::uuid[], $2::uuid[]) as u(id, token)
where c.id = u.id and c.lease_token = u.token
returning c.id

-- name: chunk_release
update chunk c set available_at = now() - $3 * interval '1 second', lease_token = null, claims = greatest(c.claims - 1, 0)
from unnest($1::uuid[], $2::uuid[]) as u(id, token)
where c.id = u.id and c.lease_token = u.token

-- name: control_monitors
select m.id, m.status = 2, null::int from monitor m
where m.control_changed_at > now() - $1 * interval '1 millisecond'
union all
select s.monitor_id, s.is_active, s.position from row_switch s
where s.switched_at > now() - $1 * interval '1 millisecond'

-- name: control_organisations
select o.id, not o.locked and 'monitors' = any(o.features) from organisation o
where o.control_changed_at > now() - $1 * interval '1 millisecond'

-- name: monitor_lock
select m.org_id, m.status, m.disabled_reason
from monitor m
where m.id = $1 and ($2::uuid is null or m.org_id = $2) and ($3::uuid is null or m.team_id = $3)
for no key update

-- name: sched_lock
select monitor_id, org_id, team_id, tier, frequency_s, anchor_at, next_run_at, row_count, last_tick_id,
       open_tick_id, now(), live, open_rows, clock_timestamp(), check_ms
from monitor_sched
where monitor_id = $1
for update

-- name: monitor_set_status
update monitor
set status = $2, disabled_reason = $3, control_changed_at = now(), updated_at = now()
where id = $1

-- name: sched_live_of_monitor
select not o.locked and 'monitors' = any(o.features)
from monitor m join organisation o on o.id = m.org_id
where m.id = $1
for share of o

-- name: sched_set_live
update monitor_sched s
set live = $3, next_run_at = coalesce(u.next_run_at, s.next_run_at)
from unnest($1::uuid[], $2::timestamptz[]) as u(monitor_id, next_run_at)
where s.monitor_id = u.monitor_id

-- name: organisation_lock
select locked, features from organisation where id = $1 for no key update

-- name: organisation_set_control
update organisation set locked = $2, features = $3::text[], control_changed_at = now() where id = $1

-- name: sched_due_of_organisation
select s.monitor_id, s.org_id, s.team_id, s.tier, s.frequency_s, s.anchor_at, s.next_run_at, s.row_count,
       s.last_tick_id, s.open_tick_id, now()
from monitor m join monitor_sched s on s.monitor_id = m.id
where m.org_id = $1 and s.live and s.next_run_at <= now()
for update of s

-- name: sched_stop_organisation
update monitor_sched s set live = false
from monitor m
where m.org_id = $1 and s.monitor_id = m.id and s.live

-- name: sched_stopped_of_organisation
select s.monitor_id, s.anchor_at, s.frequency_s, clock_timestamp()
from monitor m join monitor_sched s on s.monitor_id = m.id
where m.org_id = $1 and m.status = 2 and not s.live
for update of s

-- name: delivery_walk
with recursive walk(endpoint_id, n) as (
  (select endpoint_id, 1 from delivery where state = 0 and endpoint_id > $1 order by endpoint_id limit 1)
  union all
  select (select d.endpoint_id from delivery d where d.state = 0 and d.endpoint_id > w.endpoint_id
          order by d.endpoint_id limit 1), w.n + 1
  from walk w
  where w.endpoint_id is not null and w.n < $2
)
select w.endpoint_id,
       coalesce(e.available_at <= now(), true)
         and exists (select from delivery d where d.state = 0 and d.endpoint_id = w.endpoint_id
                     and d.available_at <= now()),
       coalesce(e.failures, 0),
       coalesce(e.org_id, (select d.org_id from delivery d where d.state = 0 and d.endpoint_id = w.endpoint_id limit 1))
from walk w left join endpoint e on e.id = w.endpoint_id
where w.endpoint_id is not null
order by w.endpoint_id

-- name: endpoint_try
update endpoint e set available_at = now() + $2 * interval '1 millisecond'
where e.id = any($1::uuid[]) and e.available_at <= now()
returning e.id

-- name: delivery_claim
with picked as materialized (
  select d.id
  from unnest($1::uuid[], $2::int[]) as s(endpoint_id, deliveries_max)
  cross join lateral (
    select id from delivery
    where state = 0 and endpoint_id = s.endpoint_id and available_at <= now()
    order by available_at
    limit s.deliveries_max
    for update skip locked
  ) d
)
update delivery d
set available_at = now() + $4 * interval '1 millisecond', lease_token = $3
from picked p, monitor m
where d.id = p.id and m.id = d.monitor_id
returning d.id, d.org_id, d.endpoint_id, d.monitor_id, d.row_id, d.event_group_id, d.type, d.created_at,
          d.attempts, coalesce(d.replayed_at, d.created_at), m.webhook_url, m.endpoint_id, m.metadata, now(),
          d.replayed_attempts

-- name: delivery_targets
select id, webhook_url, endpoint_id, metadata from monitor where id = any($1::uuid[])

-- name: delivery_die
update delivery set state = 1, lease_token = null, last_error = $2
where id = any($1::uuid[])

-- name: delivery_move
update delivery d set endpoint_id = u.endpoint_id, available_at = now(), lease_token = null
from unnest($1::uuid[], $2::uuid[]) as u(id, endpoint_id)
where d.id = u.id

-- name: delivery_settle_delivered
delete from delivery d
using unnest($1::uuid[], $2::uuid[]) as u(id, token)
where d.id = u.id and d.lease_token = u.token

-- name: delivery_settle_failed
update delivery d
set state = u.state, attempts = u.attempts, lease_token = null, last_error = u.error,
    available_at = now() + u.retry_ms * interval '1 millisecond'
from unnest($1::uuid[], $2::uuid[], $3::smallint[], $4::int[], $5::text[], $6::bigint[])
  as u(id, token, state, attempts, error, retry_ms)
where d.id = u.id and d.lease_token = u.token

-- name: attempts_recorded
select u.n - 1
from unnest($1::uuid[], $2::timestamptz[]) with ordinality as u(id, attempted_at, n)
where exists (select from delivery_attempt a where a.delivery_id = u.id and a.attempted_at = u.attempted_at)

-- name: attempt_insert
insert into delivery_attempt (delivery_id, attempt, org_id, monitor_id, row_id, event_group_id, type,
                              created_at, attempted_at, delivered, status_code, error, answer, duration_us)
select * from unnest($1::uuid[], $2::int[], $3::uuid[], $4::uuid[], $5::uuid[], $6::uuid[], $7::smallint[],
                     $8::timestamptz[], $9::timestamptz[], $10::boolean[], $11::int[], $12::text[],
                     $13::bytea[], $14::bigint[])

-- name: endpoints_succeeded
update endpoint set failures = 0, failing_since = null, failed_at = null, available_at = '-infinity'
where id in (select unnest($1::uuid[]) order by 1) and (failures > 0 or available_at > '-infinity')

-- name: endpoints_failed
update endpoint e
set failures = e.failures + u.failures, failing_since = coalesce(e.failing_since, now()), failed_at = now(),
    available_at = case when e.failures + u.failures >= $3
                        then greatest(e.available_at, now() + $4 * interval '1 millisecond')
                        else e.available_at end
from unnest($1::uuid[], $2::int[]) as u(id, failures)
where e.id = u.id

-- name: delivery_renew
update delivery d set available_at = now() + $3 * interval '1 millisecond'
from unnest($1::uuid[], $2::uuid[]) as u(id, token)
where d.id = u.id and d.lease_token = u.token

-- name: delivery_release
update delivery d set available_at = now(), lease_token = null
from unnest($1::uuid[], $2::uuid[]) as u(id, token)
where d.id = u.id and d.lease_token = u.token

-- name: delivery_admin_list
select d.id, d.state, d.type, d.org_id, d.monitor_id, d.row_id, d.event_group_id, d.attempts, d.last_error,
  d.created_at,
  case when d.state = 0 and d.lease_token is null then greatest(d.available_at, e.available_at) end
    as next_attempt_at
from delivery d
left join endpoint e on e.id = d.endpoint_id
where ($1::smallint is null or d.state = $1)
  and ($2::uuid is null or d.org_id = $2)
  and ($3::uuid is null or d.monitor_id = $3)
  and ($4::uuid is null or d.id < $4)
order by d.id desc
limit $5

-- name: delivery_admin_list_delivered
select delivery_id as id, 2 as state, type, org_id, monitor_id, row_id, event_group_id, attempt as attempts,
  null::text as last_error, created_at, null::timestamptz as next_attempt_at
from delivery_attempt
where delivered
  and ($1::uuid is null or org_id = $1)
  and ($2::uuid is null or monitor_id = $2)
  and ($3::uuid is null or delivery_id < $3)
order by delivery_id desc
limit $4

-- name: delivery_admin_read
select d.id, d.state, d.type, d.org_id, d.monitor_id, d.row_id, d.event_group_id, d.attempts, d.last_error,
  d.created_at,
  case when d.state = 0 and d.lease_token is null then greatest(d.available_at, e.available_at) end
    as next_attempt_at
from delivery d
left join endpoint e on e.id = d.endpoint_id
where d.id = $1

-- name: delivery_admin_read_delivered
select delivery_id as id, 2 as state, type, org_id, monitor_id, row_id, event_group_id, attempt as attempts,
  null::text as last_error, created_at, null::timestamptz as next_attempt_at
from delivery_attempt
where delivery_id = $1 and delivered
limit 1

-- name: delivery_admin_attempts
select attempt, attempted_at, delivered, status_code, error, answer, duration_us
from delivery_attempt
where delivery_id = $1
order by attempt desc
limit $2

-- name: delivery_admin_lock
select state from delivery where id = $1 for update

-- name: delivery_admin_was_delivered
select from delivery_attempt where delivery_id = $1 and delivered limit 1

-- name: delivery_admin_replay
update delivery d
set state = 0, available_at = now(), replayed_at = now(), replayed_attempts = attempts, lease_token = null,
    endpoint_id = coalesce((select m.endpoint_id from monitor m where m.id = d.monitor_id), d.endpoint_id)
where d.id = any ($1::uuid[]) and d.state = 1
returning d.id, d.org_id

-- name: delivery_admin_dead_batch
select id
from delivery
where state = 1
  and ($1::uuid is null or org_id = $1)
  and ($2::uuid is null or monitor_id = $2)
  and ($3::timestamptz is null or created_at >= $3)
  and ($4::timestamptz is null or created_at < $4)
  and ($5::uuid is null or id > $5)
order by id
limit $6
for update

-- name: event_list
select * from (
  select e.*, b.bytes,
         sum(b.bytes) over (order by tick_id desc, event_type desc, field collate "C" rows unbounded preceding)
           as bytes_until
  from (
    select id, event_type, event_group_id, tick_id, field, previous_value, current_value, message, evidence, sources,
           confidence, created_at
    from event
    where row_id = $1 and tick_id between $2 and $3
      and ($6::int is null or tick_id < $3 or 2 - event_type > $6
           or (2 - event_type = $6 and field collate "C" > $7::text))
    order by tick_id desc, event_type desc, field collate "C"
    limit $4
  ) e
  cross join lateral (
    select coalesce(octet_length(previous_value::text), 0) + coalesce(octet_length(current_value::text), 0)
           + coalesce(octet_length(message), 0) + coalesce(octet_length(evidence), 0)
           + coalesce(octet_length(sources::text), 0) as bytes
  ) b
) page
where bytes_until - bytes < $5
order by tick_id desc, event_type desc, field collate "C"

-- name: event_tick
select tick_id from event where row_id = $1 and event_group_id = $2 limit 1

-- name: outcome_list_ticks
select tick_id, get_byte(outcomes, $2::int) as outcome
from tick
where monitor_id = $1 and tick_id between $3 and $4 and outcomes is not null
  and case when length(outcomes) > $2::int then get_byte(outcomes, $2::int) end = any ($5::int[])
order by tick_id desc
limit $6

-- name: outcome_list_log
select tick_id, get_byte(outcomes, $3::int - first) as outcome
from check_log
where monitor_id = $1 and block = $2 and tick_id between $4 and $5
  and case when $3::int >= first and $3::int < first + length(outcomes)
           then get_byte(outcomes, $3::int - first) end = any ($6::int[])
order by tick_id desc
limit $7

-- name: outcome_last
select last_tick_id as tick_id, outcome
from row_state
where monitor_id = $1 and position = $2 and last_tick_id between $3 and $4 and outcome = any ($5::int[])

-- name: tick_ids
select tick_id from tick where monitor_id = $1 and tick_id < $2 order by tick_id desc limit $3

-- name: tick_last
select last_tick_id from row_state where monitor_id = $1 and position = $2

-- name: tick_list
select tick_id, trigger, due_at, started_at, finished_at, slots, row_count, outcomes, counts
from (
  select tick_id, trigger, due_at, started_at, finished_at, slots, row_count, outcomes, counts
  from tick
  where monitor_id = $1 and tick_id < $2
  union all
  select open_tick_id, open_trigger, open_due_at, open_started_at, null, open_slots, open_rows, null, null
  from monitor_sched
  where monitor_id = $1 and open_tick_id < $2 and not open_large
) t
order by tick_id desc
limit $3

-- name: member_heartbeat
insert into member (id, roles, version, host, pid, draining, counters, check_ms)
values ($1, $2::text[], $3, $4, $5, $6, $7::json, $8::int[])
on conflict (id) do update
set heartbeat_at = now(), draining = excluded.draining, counters = excluded.counters, check_ms = excluded.check_ms

-- name: member_forget
delete from member where heartbeat_at < now() - interval '1 day'

-- name: member_leave
delete from member where id = $1

-- name: gauges
select c.due, c.leased, c.waiting, c.oldest_due_us, p.pending,
  (select count(*) from (select from delivery where state = 1 limit $1) s) as dead,
  p.oldest_pending_us,
  (select count(*) from endpoint where failing) as receivers_failing
from (
  select count(*) as pending,
    coalesce(extract(epoch from now() - min(created_at)) * 1000000, 0)::bigint as oldest_pending_us
  from (select created_at from delivery where state = 0 limit $1) s) p
cross join (
  select count(*) filter (where available_at <= now()) as due,
    count(*) filter (where available_at > now() and lease_token is not null) as leased,
    count(*) filter (where available_at > now() and lease_token is null) as waiting,
    coalesce(extract(epoch from now() - min(due_at) filter (where available_at <= now()))
             * 1000000, 0)::bigint as oldest_due_us
  from chunk) c

-- name: maintenance_lock
select pg_try_advisory_xact_lock(8386094145001)

-- name: partitions_missing
select w.week
from (select date_trunc('week', now() at time zone 'UTC') at time zone 'UTC' + k * interval '7 days' as week
      from generate_series(0, $2::int - 1) k) w
where to_regclass($1::text || '_' || to_char(w.week at time zone 'UTC', 'YYYYMMDD')) is null
order by w.week

-- name: partition_ensure
select ensure_partition($1, $2::timestamptz, $3::int)

-- name: partitions_old
select c.relname
from pg_inherits i join pg_class c on c.oid = i.inhrelid join pg_class p on p.oid = i.inhparent
where p.relname = $1 and c.relname ~ '_[0-9]{8}$' and c.relnamespace = 'public'::regnamespace
  and to_date(right(c.relname, 8), 'YYYYMMDD') + 7
      < (now() at time zone 'UTC')::date - ($2 * interval '1 hour')

-- name: tick_default_expire
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
with gone as (
  delete from delivery
  where id in (select id from (select id, created_at from delivery where state = 1 order by id limit $2) first
               where created_at < now() - $1 * interval '1 hour')
  returning 1)
select count(*) from gone

-- name: audit_expire
with gone as (
  delete from audit
  where id in (select id from audit where at < now() - $1 * interval '1 hour' limit $2)
  returning 1)
select count(*) from gone

-- name: endpoint_page
select e.id,
  exists (select from monitor m where m.endpoint_id = e.id)
    or exists (select from delivery d where d.state = 0 and d.endpoint_id = e.id) as used
from endpoint e
where e.id > $1
order by e.id
limit $2

-- name: endpoint_forget
delete from endpoint
where id in (
  select e.id from endpoint e
  where e.id = any ($1::uuid[])
    and not exists (select from monitor m where m.endpoint_id = e.id)
    and not exists (select from delivery d where d.state = 0 and d.endpoint_id = e.id)
  for update skip locked)

-- name: monitor_get
select * from monitor_shown
where id = $1 and ($2::uuid is null or org_id = $2) and ($3::uuid is null or team_id = $3)

-- name: monitor_list_org
select * from (
  select m.*, b.bytes, sum(b.bytes) over (order by m.id desc rows unbounded preceding) as bytes_until
  from (
    select * from monitor_shown
    where org_id = $1 and id < $2
      and ($3::uuid is null or team_id = $3)
      and ($4::int[] is null or shown_status = any ($4))
      and ($5::text is null or position(lower($5) in lower(name)) > 0 or id::text = lower($5))
    order by id desc
    limit $6
  ) m
  cross join lateral (
    select octet_length(m.name) + octet_length(m.struct::text) + coalesce(octet_length(m.metadata::text), 0)
           + coalesce(octet_length(m.research_plan), 0) + coalesce(octet_length(m.webhook_url), 0) as bytes
  ) b
) page
where bytes_until - bytes < $7
order by id desc

-- name: monitor_list_all
select * from (
  select m.*, b.bytes, sum(b.bytes) over (order by m.id desc rows unbounded preceding) as bytes_until
  from (
    select * from monitor_shown
    where id < $1
      and ($2::int[] is null or shown_status = any ($2))
      and ($3::text is null or position(lower($3) in lower(name)) > 0 or id::text = lower($3))
    order by id desc
    limit $4
  ) m
  cross join lateral (
    select octet_length(m.name) + octet_length(m.struct::text) + coalesce(octet_length(m.metadata::text), 0)
           + coalesce(octet_length(m.research_plan), 0) + coalesce(octet_length(m.webhook_url), 0) as bytes
  ) b
) page
where bytes_until - bytes < $5
order by id desc

-- name: monitor_list_run
select * from (
  select m.*, b.bytes, sum(b.bytes) over (order by m.id desc rows unbounded preceding) as bytes_until
  from (
    select * from monitor_shown
    where org_id = $1 and run_id = $2 and id < $3
      and ($4::uuid is null or team_id = $4)
      and ($5::int[] is null or shown_status = any ($5))
    order by id desc
    limit $6
  ) m
  cross join lateral (
    select octet_length(m.name) + octet_length(m.struct::text) + coalesce(octet_length(m.metadata::text), 0)
           + coalesce(octet_length(m.research_plan), 0) + coalesce(octet_length(m.webhook_url), 0) as bytes
  ) b
) page
where bytes_until - bytes < $7
order by id desc

-- name: organisation_share
select locked or not features @> array['monitors'] as stopped from organisation where id = $1 for share

-- name: team_exists
select 1 from team where org_id = $1 and id = $2

-- name: idempotency_lock
select pg_try_advisory_xact_lock($1::bigint)

-- name: idempotency_expire
delete from idempotency_key
where org_id = $1 and key = $2 and created_at < now() - make_interval(hours => $3::int)

-- name: idempotency_get
select body_sha256, monitor_id, answer, row_count from idempotency_key
where org_id = $1 and key = $2 and created_at >= now() - make_interval(hours => $3::int)

-- name: idempotency_insert
insert into idempotency_key (org_id, key, body_sha256, monitor_id, answer, row_count)
values ($1, $2, $3, $4, $5::json, $6)

-- name: endpoint_find
select id from endpoint where org_id = $1 and scheme = $2 and host = $3 and port = $4 for key share

-- name: endpoint_insert
insert into endpoint (id, org_id, scheme, host, port) values ($1, $2, $3, $4, $5)
on conflict (org_id, scheme, host, port) do nothing

-- name: monitor_insert
insert into monitor (id, org_id, team_id, name, frequency, tier, subject_type, status, key_columns, struct,
                     research_plan, metadata, webhook_url, webhook_event_types, endpoint_id, confirm_after,
                     missing_confirmations, run_id)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10::json, $11, $12::json, $13, $14, $15, $16, $17, $18)

-- name: monitor_sched_insert
insert into monitor_sched (monitor_id, org_id, team_id, tier, live, frequency_s, anchor_at, next_run_at, row_count,
                           active_row_count)
values ($1, $2, $3, $4, $5, $6, now(), now(), $7, $7)

-- name: monitor_change
update monitor
set name = coalesce($2, name),
    webhook_url = case when $3::boolean then $4 else webhook_url end,
    endpoint_id = case when $3 then $5::uuid else endpoint_id end,
    metadata = case when $6::boolean then $7::json else metadata end,
    research_plan = case when $8::boolean then $9 else research_plan end,
    frequency = coalesce($10, frequency),
    confirm_after = coalesce($11::int, confirm_after),
    missing_confirmations = coalesce($12::int, missing_confirmations),
    updated_at = now()
where id = $1

-- name: monitor_change_frequency
update monitor_sched s
set frequency_s = $2
from (select frequency_s from monitor_sched where monitor_id = $1) old
where s.monitor_id = $1
returning old.frequency_s <> $2 as changed, s.live, s.anchor_at, s.next_run_at, clock_timestamp() as at

-- name: sched_set_next
update monitor_sched set next_run_at = $2 where monitor_id = $1

-- name: overview_members
select id, roles, version, host, pid, started_at, heartbeat_at, draining, counters::text as counters,
  (extract(epoch from now() - heartbeat_at) * 1000)::bigint as heartbeat_age_ms
from member
where heartbeat_at > now() - $1::bigint * interval '1 second'
order by heartbeat_at desc, id
limit $2

-- name: overview_chunks
select now() as at,
  count(*) filter (where available_at <= now()) as due,
  count(*) filter (where available_at > now() and lease_token is not null) as leased,
  count(*) filter (where available_at > now() and lease_token is null) as waiting,
  coalesce(sum(row_count) filter (where available_at <= now()), 0)::bigint as checks_due,
  coalesce(sum(row_count) filter (where available_at > now() and lease_token is not null), 0)::bigint
    as checks_leased,
  (extract(epoch from now() - min(due_at) filter (where available_at <= now())) * 1000)::bigint
    as oldest_due_age_ms
from chunk

-- name: overview_deliveries
select
  (select count(*) from (select from delivery where state = 0 limit $1) s) as pending,
  (select count(*) from (select from delivery where state = 1 limit $1) s) as dead,
  (select (extract(epoch from now() - created_at) * 1000)::bigint
   from delivery where state = 0 order by id limit 1) as oldest_pending_age_ms

-- name: overview_monitors
select
  (select count(*) from (select from monitor_sched where live limit $1) s) as live,
  (select count(*) from (
     select from monitor_sched
     where live and next_run_at < now() - $2::bigint * interval '1 second' limit $1) s) as late

-- name: overview_failing
select org_id, scheme || '://' || host || ':' || port as address, failing_since, failed_at, failures,
  count(*) over () as total
from endpoint
where failing
order by failing_since
limit $1

-- name: overview_backlog
select b.org_id, o.name, b.chunks, b.checks, b.oldest_due_age_ms
from (
  select org_id, count(*) as chunks, sum(row_count)::bigint as checks,
    (extract(epoch from now() - min(due_at)) * 1000)::bigint as oldest_due_age_ms
  from chunk
  where available_at <= now()
  group by org_id
  order by 3 desc
  limit $1) b
join organisation o on o.id = b.org_id
order by b.checks desc, b.org_id

-- name: overview_late
select m.id, m.org_id, m.name, m.frequency, s.last_run_at, s.next_run_at,
  (extract(epoch from now() - s.next_run_at) * 1000)::bigint as late_ms
from monitor_sched s
join monitor m on m.id = s.monitor_id
where s.live and s.next_run_at < now() - $1::bigint * interval '1 second'
order by s.next_run_at
limit $2

-- name: split_lock_chunk
select c.id, c.org_id, c.team_id, c.tier, c.monitor_id is not null, c.claims, c.due_at, c.reserved_mc,
       c.price_mc, c.month, c.monitor_ids, c.tick_ids, c.firsts, c.ends
from chunk c
where c.id = $1 and c.lease_token = $2
for update

-- name: chunk_last_try
update chunk set claims = greatest(claims, $3) where id = $1 and lease_token = $2
returning id

-- name: split_make_large
with s as (
  update monitor_sched set open_large = true
  where monitor_id = $1 and open_tick_id = $2
  returning *
)
insert into tick (monitor_id, tick_id, org_id, trigger, due_at, started_at, slots, row_count)
select monitor_id, open_tick_id, org_id, open_trigger, open_due_at, open_started_at, open_slots, open_rows
from s

-- name: record_lock_chunks
select c.id, c.reserved_mc, c.month, now()
from unnest($1::uuid[], $2::uuid[]) as u(id, token)
join chunk c on c.id = u.id and c.lease_token = u.token
order by c.id
for update of c

-- name: record_row_states
with written as (
  update row_state s
  set last_tick_id = r.tick_id,
      outcome = get_byte(r.outcomes, s.position - r.first),
      last_run_at = case when get_byte(r.outcomes, s.position - r.first) in (1, 2) then r.looked_until
                         else s.last_run_at end
  from unnest($1::uuid[], $2::bigint[], $3::int[], $4::bytea[], $5::timestamptz[])
    as r(monitor_id, tick_id, first, outcomes, looked_until)
  where s.monitor_id = r.monitor_id
    and s.position >= r.first and s.position < r.first + length(r.outcomes)
    and s.last_tick_id < r.tick_id
    and get_byte(r.outcomes, s.position - r.first) <> 0
  returning 1
)
select count(*) from written

-- name: record_events
insert into event (id, org_id, monitor_id, row_id, tick_id, event_group_id, event_type, field,
                   previous_value, current_value, message, evidence, sources, confidence)
select * from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::bigint[], $6::uuid[],
                     $7::smallint[], $8::text[], $9::json[], $10::json[], $11::text[], $12::text[],
                     $13::json[], $14::float8[])

-- name: record_rows
update monitor_row r
set baseline = coalesce(u.baseline, r.baseline), known = coalesce(u.known, r.known), pending = u.pending,
    updated_at = now()
from unnest($1::uuid[], $2::int[], $3::json[], $4::json[], $5::json[])
  as u(monitor_id, position, baseline, known, pending)
where r.monitor_id = u.monitor_id and r.position = u.position

-- name: record_deliveries
with written as (
  insert into delivery (id, org_id, endpoint_id, monitor_id, row_id, event_group_id, type, available_at,
                        lease_token)
  select u.id, u.org_id, m.endpoint_id, u.monitor_id, u.row_id, u.event_group_id, u.type,
         case when u.lease_token is null or m.endpoint_id <> u.endpoint_id then now()
              else now() + $9 * interval '1 millisecond' end,
         case when m.endpoint_id = u.endpoint_id then u.lease_token end
  from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::uuid[], $6::uuid[], $7::smallint[],
              $8::uuid[])
    as u(id, org_id, endpoint_id, monitor_id, row_id, event_group_id, type, lease_token)
  join monitor m on m.id = u.monitor_id
  where m.webhook_url is not null
)
select id, webhook_url, endpoint_id, metadata from monitor where id = any($10::uuid[])

-- name: record_log
insert into check_log (monitor_id, block, tick_id, first, org_id, outcomes, check_ms)
select * from unnest($1::uuid[], $2::int[], $3::bigint[], $4::smallint[], $5::uuid[], $6::bytea[], $7::int[])

-- name: record_ticks
insert into tick (monitor_id, tick_id, org_id, trigger, due_at, started_at, finished_at, slots, row_count,
                  outcomes)
select u.monitor_id, u.tick_id, u.org_id, u.trigger, u.due_at, u.started_at, now(), u.slots,
       length(u.outcomes), u.outcomes
from unnest($1::uuid[], $2::bigint[], $3::uuid[], $4::smallint[], $5::timestamptz[], $6::timestamptz[],
            $7::int[], $8::bytea[])
  as u(monitor_id, tick_id, org_id, trigger, due_at, started_at, slots, outcomes)

-- name: record_close_ticks
update monitor_sched s
set open_tick_id = null, open_due_at = null, open_started_at = null, open_slots = null, open_rows = null,
    open_trigger = null, check_ms = case when u.check_ms > 0 then u.check_ms else s.check_ms end
from unnest($1::uuid[], $2::bigint[], $3::int[]) as u(monitor_id, tick_id, check_ms)
where s.monitor_id = u.monitor_id and s.open_tick_id = u.tick_id

-- name: record_charges
insert into credit_entry (org_id, team_id, amount_mc, checks, tier, chunk_id)
select u.org_id, u.team_id, -u.amount_mc, u.checks, u.tier, u.chunk_id
from unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::int[], $5::smallint[], $6::uuid[])
  as u(org_id, team_id, amount_mc, checks, tier, chunk_id)

-- name: record_progress
update chunk c set reserved_mc = c.reserved_mc - u.amount_mc, claims = 0
from unnest($1::uuid[], $2::bigint[]) as u(id, amount_mc)
where c.id = u.id

-- name: record_delete_chunks
delete from chunk where id = any($1::uuid[])

-- name: accounts_return
update account a set balance_mc = a.balance_mc + u.amount_mc
from unnest($1::uuid[], $2::bigint[]) as u(org_id, amount_mc)
where a.org_id = u.org_id

-- name: team_spend_return
update team_spend s set spent_mc = s.spent_mc - u.amount_mc
from unnest($1::uuid[], $2::date[], $3::bigint[]) as u(team_id, month, amount_mc)
where s.team_id = u.team_id and s.month = u.month

-- name: row_ids
select id from monitor_row where monitor_id = $1 and position >= $2 and position < $3 order by position

-- name: row_list
select * from (
  select r.id, r.position, r.subject, r.context, r.baseline, r.pending, r.is_active, r.disabled_reason, r.created_at,
         r.updated_at, s.last_run_at, b.bytes,
         sum(b.bytes) over (order by r.position rows unbounded preceding) as bytes_until
  from monitor_row r
  cross join lateral (
    select last_run_at from row_state where monitor_id = r.monitor_id and position = r.position offset 0
  ) s
  cross join lateral (
    select octet_length(r.subject::text) + coalesce(octet_length(r.context::text), 0)
           + octet_length(r.baseline::text) + coalesce(octet_length(r.pending::text), 0) as bytes
  ) b
  where r.monitor_id = $1 and r.position > $2 and r.position <= $2::bigint + $3
) page
where bytes_until - bytes < $4
order by position

-- name: row_get
select r.id, r.position, r.subject, r.context, r.baseline, r.pending, r.is_active, r.disabled_reason, r.created_at,
       r.updated_at, s.last_run_at
from monitor_row r
join row_state s on s.monitor_id = r.monitor_id and s.position = r.position
where r.id = $2 and r.monitor_id = $1

-- name: row_list_stale
select * from (
  select r.*, b.bytes, sum(b.bytes) over (order by r.position rows unbounded preceding) as bytes_until
  from (
    select r.id, r.position, r.subject, r.context, r.baseline, r.pending, r.is_active, r.disabled_reason,
           r.created_at, r.updated_at, s.last_run_at
    from monitor_row r
    cross join lateral (
      select last_run_at from row_state where monitor_id = r.monitor_id and position = r.position offset 0
    ) s
    where r.monitor_id = $1 and r.position > $2 and r.position <= $3
      and r.is_active and coalesce(s.last_run_at, r.created_at) < now() - make_interval(secs => $4)
    order by r.position
    limit $5
  ) r
  cross join lateral (
    select octet_length(r.subject::text) + coalesce(octet_length(r.context::text), 0)
           + octet_length(r.baseline::text) + coalesce(octet_length(r.pending::text), 0) as bytes
  ) b
) page
where bytes_until - bytes < $6
order by position

-- name: row_insert
insert into monitor_row (monitor_id, position, id, org_id, key_hash, subject, context, baseline)
select $1, $2::int + r.n - 1, r.id, $3, r.key_hash, r.subject, r.context, r.baseline
from unnest($4::uuid[], $5::bytea[], $6::json[], $7::json[], $8::json[])
     with ordinality as r(id, key_hash, subject, context, baseline, n)

-- name: row_state_insert
insert into row_state (monitor_id, position) select $1, generate_series($2::int, $3::int - 1)

-- name: row_find_keys
select found.key_hash, found.position
from unnest($2::bytea[]) as k(hash)
cross join lateral (
  select key_hash, position from monitor_row where monitor_id = $1 and key_hash = k.hash offset 0
) found
limit 1

-- name: row_counts
select row_count from monitor_sched where monitor_id = $1

-- name: row_counts_add
update monitor_sched set row_count = row_count + $2, active_row_count = active_row_count + $2 where monitor_id = $1

-- name: row_switch
with old as (
  select id, is_active from monitor_row where id = $2 and monitor_id = $1 for update
), switched as (
  update monitor_row r
  set is_active = $3, disabled_reason = $4, updated_at = now()
  from old
  where r.id = old.id
  returning r.position
), told as (
  insert into row_switch (monitor_id, position, is_active)
  select $1, position, $3 from switched
  on conflict (monitor_id, position) do update set is_active = excluded.is_active, switched_at = now()
), forgotten as (
  delete from row_switch s
  using (select monitor_id, position from row_switch
         where switched_at < now() - interval '10 minutes' and (monitor_id, position) not in (
           select $1, position from switched)
         limit 1000 for update skip locked) old_ones
  where s.monitor_id = old_ones.monitor_id and s.position = old_ones.position
)
select case when is_active = $3 then 0 when $3 then 1 else -1 end as moved from old

-- name: row_switch_count
update monitor_sched set active_row_count = active_row_count + $2 where monitor_id = $1

-- name: monitor_touch
update monitor set updated_at = now() where id = $1

-- name: schema_table_exists
select to_regclass('schema_migration') is not null

-- name: schema_version
select coalesce(max(version), 0) from schema_migration

-- name: database_clock
select clock_timestamp()

-- name: signing_secrets_read
select org_id, id, sealed, encryption_key_id, retires_at is null or retires_at > now() as live
from signing_secret
where org_id = any ($1::uuid[])
order by org_id, (retires_at is null) desc, created_at desc, id desc

-- name: signing_secrets_lock_org
select id from organisation where id = $1 for update

-- name: signing_secrets_retire_former
update signing_secret
set retires_at = least(coalesce(retires_at, 'infinity'), now() + $2::bigint * interval '1 second')
where org_id = $1 and (retires_at is null or retires_at > now())

-- name: signing_secret_insert
insert into signing_secret (id, org_id, sealed, encryption_key_id) values ($1, $2, $3::bytea, $4)

-- name: signing_secrets_retire_surplus
update signing_secret
set retires_at = now()
where id in (
  select id from signing_secret
  where org_id = $1 and (retires_at is null or retires_at > now())
  order by (retires_at is null) desc, created_at desc, id desc
  offset $2)

-- name: sched_due
select monitor_id, org_id, team_id, tier, frequency_s, anchor_at, next_run_at, row_count, last_tick_id,
       open_tick_id, now(), check_ms
from monitor_sched
where live and next_run_at <= now()
order by next_run_at
limit $1
for update skip locked

-- name: sched_next_due
select now(),
       least((select min(next_run_at) from monitor_sched where live),
             (select min(portion_at) from monitor_sched where portion_at is not null))

-- name: sched_open_ticks
update monitor_sched s
set last_tick_id = u.tick_id, last_run_at = now(), next_run_at = u.next_run_at,
    open_tick_id = u.tick_id, open_due_at = u.due_at, open_started_at = now(), open_slots = u.slots,
    open_rows = s.row_count, open_trigger = u.trigger, open_large = u.large,
    portion_at = case when u.portion_position is null then null else now() end,
    portion_position = u.portion_position, portion_turn = null
from unnest($1::uuid[], $2::bigint[], $3::timestamptz[], $4::timestamptz[], $5::int[], $6::smallint[],
            $7::boolean[], $8::int[])
  as u(monitor_id, tick_id, next_run_at, due_at, slots, trigger, large, portion_position)
where s.monitor_id = u.monitor_id

-- name: sched_pass_ticks
update monitor_sched s
set last_tick_id = u.tick_id, last_run_at = now(), next_run_at = u.next_run_at
from unnest($1::uuid[], $2::bigint[], $3::timestamptz[]) as u(monitor_id, tick_id, next_run_at)
where s.monitor_id = u.monitor_id

-- name: tick_insert_closed
insert into tick (monitor_id, tick_id, org_id, trigger, due_at, started_at, finished_at, slots, row_count,
                  outcomes, counts)
select u.monitor_id, u.tick_id, u.org_id, u.trigger, u.due_at, now(), now(), u.slots, u.row_count,
       u.outcomes,
       case when u.outcomes is null
            then array_fill(0::bigint, array[$9::int]) || u.row_count::bigint
                 || array_fill(0::bigint, array[8 - $9::int]) end
from unnest($1::uuid[], $2::bigint[], $3::uuid[], $4::smallint[], $5::timestamptz[], $6::int[], $7::int[],
            $8::bytea[])
  as u(monitor_id, tick_id, org_id, trigger, due_at, slots, row_count, outcomes)

-- name: tick_insert_open
insert into tick (monitor_id, tick_id, org_id, trigger, due_at, started_at, slots, row_count)
select u.monitor_id, u.tick_id, u.org_id, u.trigger, u.due_at, now(), u.slots, u.row_count
from unnest($1::uuid[], $2::bigint[], $3::uuid[], $4::smallint[], $5::timestamptz[], $6::int[], $7::int[])
  as u(monitor_id, tick_id, org_id, trigger, due_at, slots, row_count)

-- name: chunk_turns
select o.id, (select available_at from chunk
              where org_id = o.id and available_at <= now() order by available_at limit 1), now()
from unnest($1::uuid[]) as o(id)

-- name: chunk_insert
insert into chunk (id, org_id, team_id, tier, available_at, monitor_id, monitor_ids, tick_ids, firsts, ends,
                   due_at, row_count)
select u.id, u.org_id, u.team_id, u.tier, u.turn, u.monitor_id, u.monitor_ids::uuid[], u.tick_ids::bigint[],
       u.firsts::int[], u.ends::int[], u.due_at, u.row_count
from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::smallint[], $5::uuid[], $6::timestamptz[], $7::text[],
            $8::text[], $9::text[], $10::text[], $11::int[], $12::timestamptz[])
  as u(id, org_id, team_id, tier, monitor_id, due_at, monitor_ids, tick_ids, firsts, ends, row_count, turn)

-- name: sched_due_portions
select monitor_id, org_id, team_id, tier, frequency_s, anchor_at, open_tick_id, open_due_at,
       open_started_at, open_rows, open_trigger, portion_position, now(),
       portion_turn, check_ms
from monitor_sched
where portion_at is not null and portion_at <= now()
order by portion_at
limit $1
for update skip locked

-- name: sched_set_portions
update monitor_sched s
set portion_at = u.portion_at, portion_position = u.portion_position, portion_turn = u.portion_turn
from unnest($1::uuid[], $2::timestamptz[], $3::int[], $4::timestamptz[])
  as u(monitor_id, portion_at, portion_position, portion_turn)
where s.monitor_id = u.monitor_id

-- name: sched_closable
select s.monitor_id, s.open_tick_id, s.open_rows
from monitor_sched s
where s.open_large and s.portion_at is null
  and not exists (select from chunk c where c.monitor_id = s.monitor_id)
limit $1
for update skip locked

-- name: check_log_of_tick
select l.outcomes, l.check_ms
from generate_series(0, $3::int) as b(block)
join check_log l on l.monitor_id = $1 and l.block = b.block and l.tick_id = $2

-- name: tick_close_large
update tick set finished_at = now(), counts = $3::bigint[]
where monitor_id = $1 and tick_id = $2 and finished_at is null

-- name: sched_close_large
update monitor_sched
set open_tick_id = null, open_due_at = null, open_started_at = null, open_slots = null, open_rows = null,
    open_trigger = null, open_large = false,
    check_ms = case when $3::int > 0 then $3::int else check_ms end
where monitor_id = $1 and open_tick_id = $2

-- name: upload_insert
insert into upload (id, org_id, columns, expires_at)
values ($1, $2, '{}', now() + make_interval(hours => $3::int))
returning expires_at

-- name: upload_unused
select count(*) as files, coalesce(sum(bytes), 0)::bigint as bytes from upload
where org_id = $1 and used_at is null and expires_at > now()

-- name: upload_grow
update upload set bytes = bytes + $2 where id = $1 returning org_id

-- name: upload_part_insert
insert into upload_part (upload_id, part, first_line, row_count, text) values ($1, $2, $3, $4, $5)

-- name: upload_finish
update upload set finished_at = now(), columns = $2, row_count = $3, part_count = $4
where id = $1 and finished_at is null
returning expires_at

-- name: upload_delete
delete from upload where id = $1

-- name: upload_get
select columns, row_count, expires_at from upload
where id = $1 and org_id = $2 and finished_at is not null and expires_at > now()

-- name: upload_use
update upload set used_at = coalesce(used_at, now())
where id = $1 and org_id = $2 and finished_at is not null and expires_at > now()
returning 1

-- name: upload_delete_expired
delete from upload
where id in (select u.id from upload u
             where u.expires_at < now()
               and not exists (select from monitor_import i where i.upload_id = u.id)
             order by u.expires_at
             limit $1
             for update skip locked)

-- name: import_insert
insert into monitor_import (monitor_id, org_id, upload_id) values ($1, $2, $3)

-- name: import_take
update monitor_import
set taken_at = clock_timestamp()
where monitor_id = (select monitor_id from monitor_import where not_before <= now()
                    order by taken_at limit 1 for update skip locked)
returning monitor_id

-- name: import_lock
select i.org_id, i.upload_id, i.next_part, u.columns, u.part_count
from monitor_import i
join upload u on u.id = i.upload_id
where i.monitor_id = $1
for update of i

-- name: import_part
select first_line, text from upload_part where upload_id = $1 and part = $2

-- name: import_advance
update monitor_import set next_part = next_part + 1, failures = 0 where monitor_id = $1

-- name: import_failed
update monitor_import
set failures = failures + 1, not_before = now() + make_interval(secs => least(60, power(2, failures)))
where monitor_id = $1 and next_part = $2
returning failures, upload_id

-- name: import_delete
delete from monitor_import where monitor_id = $1

-- name: import_definition
select key_columns, struct from monitor where id = $1

-- name: import_start_schedule
update monitor_sched set anchor_at = now(), next_run_at = now() where monitor_id = $1
