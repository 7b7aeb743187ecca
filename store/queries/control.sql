-- name: trigger_lock
-- What monitor_lock and sched_lock do for a trigger, in one round trip and in their order (that of the clauses), and
-- the first turn among the due chunks of its organisation. A tick that a chunk holds since this statement began is not
-- seen here: the chunk of a second one is refused then (chunk_opens_no_second_tick), and all this is done again.
select m.status, s.live, s.open_rows,
       (select c.available_at from chunk c
        where c.org_id = m.org_id and c.available_at <= now() order by c.available_at limit 1),
       h.tick_id as held_tick_id, h.row_count as held_rows, :sched_columns
from monitor m
join monitor_sched s on s.monitor_id = m.id
left join lateral (select c.tick_ids[p.n] as tick_id, c.ends[p.n] as row_count
                   from chunk c cross join lateral (select array_position(c.monitor_ids, s.monitor_id) as n) p
                   where c.id = s.chunk_id and s.open_tick_id is null) h on true
where m.id = @monitor_id and (@org_id::uuid is null or m.org_id = @org_id)
  and (@team_id::uuid is null or m.team_id = @team_id) and m.deleted_at is null
for no key update of m for update of s

-- name: commits_on_disk
-- A commit that waits for the disk, and with it for all WAL before it. A transaction that writes nothing would wait for
-- nothing: this one writes a message that nobody reads.
select pg_logical_emit_message(true, 'vedette', ''::text)

-- name: organisation_lock
select locked, features, monitors_run, lives_at, moving_until from organisation
where id = @org_id for no key update

-- name: organisation_set_control
update organisation set locked = @locked, features = @features::text[], control_changed_at = now() where id = @org_id
returning monitors_run

-- name: organisation_share
-- For share: ChangeOrganisation must not miss a monitor that is being made, nor this one its change.
select not monitors_run from organisation where id = @org_id for share
