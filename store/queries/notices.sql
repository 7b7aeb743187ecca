-- name: notice_channels
select c.id
from organisation o
cross join lateral unnest(o.notice_channel_ids) with ordinality as given(id, n)
join channel c on c.id = given.id and c.org_id = o.id
where o.id = @org_id
order by given.n

-- name: notice_channels_set
update organisation set notice_channel_ids = nullif(@channel_ids::uuid[], '{}') where id = @org_id

-- name: notice_lock
select pg_try_advisory_xact_lock(8386094145002)

-- name: notice_look
-- Ends what is not so any more, and begins what is so now, at most @per_day of an organisation a day; what is beyond
-- that is looked at again. Behind notice_lock.
with asked as materialized (
  select id from organisation where notice_channel_ids is not null
), so as materialized (
  select o.id as org_id, :notice_balance as kind, o.id as about, null::text as subject
  from asked o left join account a on a.org_id = o.id
  where coalesce(a.balance_mc, 0) < @least_mc::bigint
  union all
  select o.id, :notice_spend_limit, t.id, t.name
  from asked o join team t on t.org_id = o.id and t.deleted_at is null
  left join team_spend s on s.team_id = t.id and s.month = date_trunc('month', now() at time zone 'UTC')::date
  where t.spend_limit_mc - coalesce(s.spent_mc, 0) < @least_mc
  union all
  select o.id, :notice_receiver_failing, e.id, :endpoint_origin
  from endpoint e join asked o on o.id = e.org_id
  where e.failing
  union all
  select o.id, :notice_monitor_failing, m.id, m.name
  from asked o
  join monitor_sched s on s.org_id = o.id and s.failing_since is not null
  join monitor m on m.id = s.monitor_id
  where s.failing_since < now() - interval '1 day' and m.status = :status_active and m.archived_at is null
), ended as (
  update notice n set ended_at = now()
  where n.ended_at is null
    and not exists (select from so where so.org_id = n.org_id and so.kind = n.kind and so.about = n.about)
), begun as (
  select so.*, row_number() over (partition by so.org_id order by so.kind, so.about)
                 + (select count(*) from notice d
                    where d.org_id = so.org_id and d.created_at > now() - interval '1 day'
                      and d.kind <= :notice_monitor_failing) as n_of_day
  from so
  where not exists (select from notice n where n.org_id = so.org_id and n.kind = so.kind and n.about = so.about
                                           and n.ended_at is null)
)
insert into notice (id, org_id, kind, about, subject)
select gen_random_uuid(), org_id, kind, about, subject from begun where n_of_day <= @per_day
returning id, org_id

-- name: notice_slots
-- What became of slots of schedules, each told once, to the channels that its schedule has by then: the runs that ended,
-- and what was skipped but by who paused it. Behind notice_lock.
with ended as materialized (
  select gen_random_uuid() as id, w.schedule_id, w.slot, s.org_id, coalesce(s.channel_ids, '{}') as channel_ids,
         case when w.state = :slot_skipped then :notice_run_skipped
              when j.status = :job_completed then :notice_run_completed else :notice_run_failed end as kind,
         coalesce(w.run_id, s.id) as about,
         s.name || coalesce(' (' || w.reason || ')', '') as subject,
         s.channel_ids is not null and w.reason is distinct from @paused
           and (w.state = :slot_skipped or j.id is not null) as is_told
  from workflow_slot w
  join workflow_schedule s on s.id = w.schedule_id
  left join job j on j.id = w.run_id
  where not w.told
    and (w.state = :slot_skipped or w.state = :slot_started and (j.id is null or j.finished_at is not null))
  order by w.schedule_id, w.slot
  limit @limit
), told as (
  update workflow_slot w set told = true from ended e where w.schedule_id = e.schedule_id and w.slot = e.slot
), begun as (
  insert into notice (id, org_id, kind, about, subject, ended_at)
  select id, org_id, kind, about, subject, now() from ended where is_told
)
select e.id, c.id as channel_id
from ended e
cross join lateral unnest(e.channel_ids) with ordinality as given(id, n)
join channel c on c.id = given.id and c.org_id = e.org_id
where e.is_told
order by e.schedule_id, e.slot, given.n

-- name: notice_read
select id, kind, about, coalesce(subject, '') as subject from notice where id = any (@ids::uuid[])

-- name: notice_expire
-- What no delivery that may be replayed tells any more: one is tried for at most a week.
with gone as (
  delete from notice
  where id in (select id from notice where ended_at < now() - (@kept_h + 168) * interval '1 hour'
               order by ended_at limit @limit)
  returning 1)
select count(*) from gone
