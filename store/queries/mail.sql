-- name: mail_domain_read
select domain, mx_kind, hosts, class, mx_at, control, control_at, accepts_all, accepts_all_at, recipients_max,
  recipients_at
from mail_domain where domain = @domain

-- name: mail_domain_save
insert into mail_domain (domain, mx_kind, hosts, class, mx_at, control, control_at, accepts_all, accepts_all_at,
  recipients_max, recipients_at)
values (@domain, @mx_kind, @hosts::text[], @class, @mx_at::timestamptz, @control, @control_at::timestamptz,
  @accepts_all, @accepts_all_at::timestamptz, @recipients_max, @recipients_at::timestamptz)
on conflict (domain) do update
set mx_kind = excluded.mx_kind, hosts = excluded.hosts, class = excluded.class, mx_at = excluded.mx_at,
  control = excluded.control, control_at = excluded.control_at, accepts_all = excluded.accepts_all,
  accepts_all_at = excluded.accepts_all_at, recipients_max = excluded.recipients_max,
  recipients_at = excluded.recipients_at

-- name: mail_host_state
select case when blocked_until > now() then blocked_until end as blocked_until from mail_host where key = @key

-- name: mail_budget_take
-- @key keys in order, @cap caps, @window_ms windows in milliseconds, @used permits. A key that would exceed its cap
-- gives no row.
insert into mail_budget as b (key, window_at, used)
select w.key, now(), @used::int from unnest(@key::text[], @cap::int[], @window_ms::bigint[]) as w(key, cap, window_ms)
where @used::int <= w.cap
order by w.key
on conflict (key) do update
set window_at = case when b.window_at + (select w.window_ms from unnest(@key::text[], @window_ms::bigint[]) as w(key,
  window_ms)
                                         where w.key = b.key) * interval '1 millisecond' <= now()
                     then now() else b.window_at end,
  used = case when b.window_at + (select w.window_ms from unnest(@key::text[], @window_ms::bigint[]) as w(key,
    window_ms)
                                  where w.key = b.key) * interval '1 millisecond' <= now()
              then 0 else b.used end + @used::int
where case when b.window_at + (select w.window_ms from unnest(@key::text[], @window_ms::bigint[]) as w(key, window_ms)
                               where w.key = b.key) * interval '1 millisecond' <= now()
           then 0 else b.used end + @used::int <= (select w.cap from unnest(@key::text[], @cap::int[]) as w(key, cap)
                                           where w.key = b.key)
returning b.key

-- name: mail_budget_wait
-- How long until every window of these keys has ended, in milliseconds.
select coalesce(max(greatest(0, extract(epoch from b.window_at + w.window_ms * interval '1 millisecond' - now())
                                * 1000)), 0)::bigint
from unnest(@key::text[], @cap::int[], @window_ms::bigint[]) as w(key, cap, window_ms) join mail_budget b using (key)
where b.used + @recipients::int > w.cap

-- name: mail_budgets
-- Those whose window is open, the most used first; @limit limit.
select key, used, window_at, window_at + b.long as ends_at
from mail_budget cross join lateral (
  select case split_part(key, ' ', 1) when 'domain' then interval '1 hour' when 'class' then interval '1 minute'
         else interval '1 day' end as long) b
where window_at + b.long > now()
order by used desc, key limit @limit

-- name: mail_host_trouble
-- The host @key refused us about the domain @domain, or, where that is empty, a connection to it failed. What it has in
-- a row by now, and how often it was blocked; nothing of one that is blocked.
insert into mail_host as h (key, refused_for, connect_failures, updated_at)
values (@key, case when @domain::text = '' then '{}' else array[@domain::text] end,
  case when @domain::text = '' then 1 else 0 end, now())
on conflict (key) do update
set refused_for = case when @domain::text = '' or @domain::text = any(h.refused_for) then h.refused_for
                       else h.refused_for || @domain::text end,
  connect_failures = h.connect_failures + excluded.connect_failures, updated_at = now()
where h.blocked_until is null or h.blocked_until <= now()
returning cardinality(refused_for) as refusals, connect_failures, failures

-- name: mail_host_block
update mail_host
set failures = failures + 1, blocked_until = now() + @block_ms::bigint * interval '1 millisecond',
  reason = @reason::smallint, last_reply = @last_reply,
  refused_for = '{}', connect_failures = 0, updated_at = now()
where key = @key

-- name: mail_host_served
update mail_host set failures = 0, blocked_until = null, refused_for = '{}', connect_failures = 0, updated_at = now()
where key = @key and (blocked_until is null or blocked_until <= now())
  and (failures > 0 or blocked_until is not null or cardinality(refused_for) > 0 or connect_failures > 0)

-- name: mail_host_unblock
update mail_host set failures = 0, blocked_until = null, refused_for = '{}', connect_failures = 0, updated_at = now()
where key = @key and (failures > 0 or blocked_until is not null or cardinality(refused_for) > 0 or connect_failures > 0)

-- name: mail_hosts
select key, failures, case when blocked_until > now() then blocked_until end as blocked_until,
  coalesce(reason, 0) as reason, coalesce(last_reply, '') as last_reply, updated_at
from mail_host where reason is not null order by updated_at desc limit @limit

-- name: mail_hosts_blocked
select key from mail_host where blocked_until > now()
