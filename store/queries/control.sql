-- name: monitor_lock
select m.org_id, m.status, m.disabled_reason
from monitor m
where m.id = $1 and ($2::uuid is null or m.org_id = $2) and ($3::uuid is null or m.team_id = $3)
for no key update

-- name: sched_lock
-- A stopped monitor starts again by the clock, not by the time at which the transaction began: slots came and were
-- accounted for until the monitor and its organisation were locked.
select :sched_columns, s.live, clock_timestamp()
from monitor_sched s
where s.monitor_id = $1
for update

-- name: trigger_lock
-- What monitor_lock and sched_lock do for a trigger, in one round trip and in their order (that of the clauses), and the
-- first turn among the due chunks of its organisation.
select m.status, s.live, s.open_rows,
       (select c.available_at from chunk c
        where c.org_id = m.org_id and c.available_at <= now() order by c.available_at limit 1),
       :sched_columns
from monitor m join monitor_sched s on s.monitor_id = m.id
where m.id = $1 and ($2::uuid is null or m.org_id = $2) and ($3::uuid is null or m.team_id = $3)
for no key update of m for update of s

-- name: commits_on_disk
-- A commit that waits for the disk, and with it for all WAL before it. A transaction that writes nothing would wait for
-- nothing: this one writes a message that nobody reads.
select pg_logical_emit_message(true, 'vedette', ''::text)

-- name: monitor_set_status
update monitor
set status = $2::smallint, disabled_reason = $3, control_changed_at = now(), updated_at = now(),
    archived_at = case when $2::smallint = :status_active then null else archived_at end
where id = $1

-- name: monitor_archive
update monitor set archived_at = coalesce(archived_at, now()), updated_at = now() where id = $1

-- name: sched_live_of_monitor
-- Whether the organisation lets its monitors run; held until the transaction ends.
select o.monitors_run
from monitor m join organisation o on o.id = m.org_id
where m.id = $1
for share of o

-- name: sched_set_live
update monitor_sched s
set live = $3, next_run_at = coalesce(u.next_run_at, s.next_run_at)
from unnest($1::uuid[], $2::timestamptz[]) as u(monitor_id, next_run_at)
where s.monitor_id = u.monitor_id

-- name: organisation_lock
select locked, features, monitors_run from organisation where id = $1 for no key update

-- name: organisation_set_control
update organisation set locked = $2, features = $3::text[], control_changed_at = now() where id = $1
returning monitors_run

-- name: sched_due_of_organisation
select :sched_columns
from monitor m join monitor_sched s on s.monitor_id = m.id
where m.org_id = $1 and s.live and s.next_run_at <= now()
for update of s

-- name: sched_stop_organisation
update monitor_sched s set live = false
from monitor m
where m.org_id = $1 and s.monitor_id = m.id and s.live

-- name: sched_stopped_of_organisation
-- Active monitors of an organisation that was stopped, and the clock as in sched_lock.
select s.monitor_id, s.anchor_at, s.frequency_s, clock_timestamp()
from monitor m join monitor_sched s on s.monitor_id = m.id
where m.org_id = $1 and m.status = :status_active and not s.live
for update of s
