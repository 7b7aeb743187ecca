-- name: mail_domain_read
select domain, mx_kind, hosts, class, mx_at, control, control_at, accepts_all, accepts_all_at, recipients_max,
  recipients_at
from mail_domain where domain = $1

-- name: mail_domain_save
insert into mail_domain (domain, mx_kind, hosts, class, mx_at, control, control_at, accepts_all, accepts_all_at,
  recipients_max, recipients_at)
values ($1, $2, $3::text[], $4, $5::timestamptz, $6, $7::timestamptz, $8, $9::timestamptz, $10, $11::timestamptz)
on conflict (domain) do update
set mx_kind = excluded.mx_kind, hosts = excluded.hosts, class = excluded.class, mx_at = excluded.mx_at,
  control = excluded.control, control_at = excluded.control_at, accepts_all = excluded.accepts_all,
  accepts_all_at = excluded.accepts_all_at, recipients_max = excluded.recipients_max,
  recipients_at = excluded.recipients_at

-- name: mail_host_state
select case when blocked_until > now() then blocked_until end from mail_host where key = $1

-- name: mail_budget_take
-- $1 keys in order, $2 caps, $3 windows in milliseconds, $4 permits. A key that would exceed its cap gives no row.
insert into mail_budget as b (key, window_at, used)
select w.key, now(), $4::int from unnest($1::text[], $2::int[], $3::bigint[]) as w(key, cap, window_ms)
where $4::int <= w.cap
order by w.key
on conflict (key) do update
set window_at = case when b.window_at + (select w.window_ms from unnest($1::text[], $3::bigint[]) as w(key, window_ms)
                                         where w.key = b.key) * interval '1 millisecond' <= now()
                     then now() else b.window_at end,
  used = case when b.window_at + (select w.window_ms from unnest($1::text[], $3::bigint[]) as w(key, window_ms)
                                  where w.key = b.key) * interval '1 millisecond' <= now()
              then 0 else b.used end + $4::int
where case when b.window_at + (select w.window_ms from unnest($1::text[], $3::bigint[]) as w(key, window_ms)
                               where w.key = b.key) * interval '1 millisecond' <= now()
           then 0 else b.used end + $4::int <= (select w.cap from unnest($1::text[], $2::int[]) as w(key, cap)
                                           where w.key = b.key)
returning b.key

-- name: mail_budget_wait
-- How long until every window of these keys has ended, in milliseconds.
select coalesce(max(greatest(0, extract(epoch from b.window_at + w.window_ms * interval '1 millisecond' - now())
                                * 1000)), 0)::bigint
from unnest($1::text[], $2::int[], $3::bigint[]) as w(key, cap, window_ms) join mail_budget b using (key)
where b.used + $4::int > w.cap

-- name: mail_budgets
-- Those whose window is open, the most used first; $1 limit.
select key, used, window_at, window_at + b.long
from mail_budget cross join lateral (
  select case split_part(key, ' ', 1) when 'domain' then interval '1 hour' when 'class' then interval '1 minute'
         else interval '1 day' end as long) b
where window_at + b.long > now()
order by used desc, key limit $1

-- name: mail_host_trouble
-- The host $1 refused us about the domain $2, or, where that is empty, a connection to it failed. What it has in a row by now, and how
-- often it was blocked; nothing of one that is blocked.
insert into mail_host as h (key, refused_for, connect_failures, updated_at)
values ($1, case when $2::text = '' then '{}' else array[$2::text] end, case when $2::text = '' then 1 else 0 end, now())
on conflict (key) do update
set refused_for = case when $2::text = '' or $2::text = any(h.refused_for) then h.refused_for else h.refused_for || $2::text end,
  connect_failures = h.connect_failures + excluded.connect_failures, updated_at = now()
where h.blocked_until is null or h.blocked_until <= now()
returning cardinality(refused_for), connect_failures, failures

-- name: mail_host_block
update mail_host
set failures = failures + 1, blocked_until = now() + $2::bigint * interval '1 millisecond', reason = $3::smallint, last_reply = $4,
  refused_for = '{}', connect_failures = 0, updated_at = now()
where key = $1

-- name: mail_host_served
update mail_host set failures = 0, blocked_until = null, refused_for = '{}', connect_failures = 0, updated_at = now()
where key = $1 and (blocked_until is null or blocked_until <= now())
  and (failures > 0 or blocked_until is not null or cardinality(refused_for) > 0 or connect_failures > 0)

-- name: mail_host_unblock
update mail_host set failures = 0, blocked_until = null, refused_for = '{}', connect_failures = 0, updated_at = now()
where key = $1 and (failures > 0 or blocked_until is not null or cardinality(refused_for) > 0 or connect_failures > 0)

-- name: mail_hosts
select key, failures, case when blocked_until > now() then blocked_until end, coalesce(reason, 0),
  coalesce(last_reply, ''), updated_at
from mail_host where reason is not null order by updated_at desc limit $1

-- name: mail_hosts_blocked
select key from mail_host where blocked_until > now()
