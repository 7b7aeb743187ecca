-- name: move_columns
-- Those that are written.
select quote_ident(attname) from pg_attribute
where attrelid = @name::text::regclass and attnum > 0 and not attisdropped and attgenerated = ''
order by attnum

-- name: move_numbers
select quote_ident(attname) from pg_attribute where attrelid = @name::text::regclass and attnum > 0 and attidentity <> ''

-- name: move_key
select quote_ident(a.attname)
from pg_index i
cross join lateral unnest(i.indkey) with ordinality as k(attnum, n)
join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.attnum
where i.indrelid = @name::text::regclass and i.indisprimary
order by k.n

-- name: move_partitions
-- Parts of the history, by the day with which each begins.
select p.relname, right(c.relname, 8)
from pg_inherits h join pg_class c on c.oid = h.inhrelid join pg_class p on p.oid = h.inhparent
where p.relkind = 'p' and c.relname ~ '_[0-9]{8}$'
order by 1, 2

-- name: move_make_partition
-- Makes one that is missing. More rows than @rows_max stay in the default one.
select ensure_partition(@parent::text, to_date(@day::text, 'YYYYMMDD')::timestamp at time zone 'UTC', @rows_max::text::int)

-- name: move_named
-- Organisations, also those that live elsewhere.
select id, name from organisation where strpos(lower(name), lower(@name)) > 0 order by id desc

-- name: move_organisation
-- What a move asks about an organisation.
select name, lives_at, external_id from organisation where id = @org_id::text::uuid

-- name: move_read
select side, state, other_cell, other_database, was_locked,
       extract(epoch from now() - changed_at)::bigint as age_s
from org_move where org_id = @org_id::text::uuid

-- name: move_offsets
select o.key, o.value from org_move m cross join lateral json_each_text(m.offsets) o where m.org_id = @org_id::text::uuid

-- name: move_begin
-- A move that has ended gives its place.
insert into org_move (org_id, side, state, other_cell, other_database, offsets)
values (@org_id::text::uuid, @side::text::smallint, @state::text::smallint, @cell, @database, @offsets::text::json)
on conflict (org_id) do update
set side = excluded.side, state = excluded.state, other_cell = excluded.other_cell,
    other_database = excluded.other_database, offsets = excluded.offsets, was_locked = false, started_at = now(),
    changed_at = now()

-- name: move_claim
-- One command at a time moves an organisation. It lasts as long as the connection.
select pg_try_advisory_lock(hashtextextended('org_move ' || @org_id::text, 0))

-- name: move_set_state
-- No row where the move is in another state than the one that is left.
update org_move set state = @state::text::smallint, changed_at = now()
where org_id = @org_id::text::uuid and side = @side::text::smallint and state = @from::text::smallint
returning org_id

-- name: move_forget
delete from org_move where org_id = @org_id::text::uuid

-- name: move_forget_copies
delete from org_move_copy where org_id = @org_id::text::uuid

-- name: move_copies
select name, since, timeline from org_move_copy where org_id = @org_id::text::uuid

-- name: move_copied
insert into org_move_copy (org_id, name, since, timeline, rows)
values (@org_id::text::uuid, @name, @since::text::bigint, @timeline, @rows::text::bigint)

-- name: move_make_organisation
-- What everything else refers to. Nobody may use it: it lives where it comes from.
insert into organisation (id, name, locked, lives_at)
values (@org_id::text::uuid, @name, true, @cell)
on conflict (id) do nothing

-- name: move_external_id_taken
-- By another organisation.
select id from organisation where external_id = @external_id and id <> @org_id::text::uuid

-- name: move_lock
-- With what it was before. It should end in @seconds; who reads is answered until then, but of an organisation that the
-- operator has locked (answered_until). No row where the move is not in the state @from, with the lock still to come.
with before as (select id, locked from organisation where id = @org_id::text::uuid for no key update),
noted as (
  update org_move m set was_locked = b.locked, state = @state::text::smallint, changed_at = now()
  from before b where m.org_id = b.id and m.side = @side::text::smallint and m.state = @from::text::smallint
  returning m.org_id)
update organisation o
set locked = true, control_changed_at = now(),
    moving_until = now() + @seconds::text::bigint * interval '1 second'
from before b join noted n on n.org_id = b.id where o.id = b.id
returning o.id

-- name: move_unlock
-- At the side where it lives from now on; @locked by its operator, as before.
update organisation
set locked = @locked::text::boolean, moving_until = null, lives_at = null, control_changed_at = now()
where id = @org_id::text::uuid

-- name: move_hold_jobs
-- A process that would end one of them passes it over from now on, or has ended it before.
select count(*) from (select id from job where org_id = @org_id::text::uuid and finished_at is null for update) j

-- name: move_hold_monitors
select count(*)
from (select s.monitor_id from monitor m join monitor_sched s on s.monitor_id = m.id
      where m.org_id = @org_id::text::uuid for update of s) s

-- name: move_hold_workflows
select count(*) from (select id from workflow_schedule where org_id = @org_id::text::uuid for update) w

-- name: move_leave
-- It lives elsewhere, and nothing here tells its channels anything.
update organisation set locked = true, moving_until = null, lives_at = @cell, notice_channel_ids = null,
  control_changed_at = now()
where id = @org_id::text::uuid

-- name: move_organisation_columns
-- All that the organisation's row has but what locks it.
select to_json(o) from (select id, name, features, created_at, external_id, notice_channel_ids from organisation) o
where o.id = @org_id::text::uuid

-- name: move_set_organisation
update organisation o
set name = n.name, features = n.features, created_at = n.created_at, external_id = n.external_id,
    notice_channel_ids = n.notice_channel_ids
from json_populate_record(null::organisation, @row::text::json) n
where o.id = n.id

-- name: move_direct
insert into cell_directory (org_id, cell) values (@org_id::text::uuid, @cell)
on conflict (org_id) do update set cell = excluded.cell, changed_at = now()

-- name: move_park_chunks
-- What nobody holds is due in a hundred years, and is found by that when it goes on.
update chunk set available_at = available_at + :move_far, lease_token = null
where org_id = @org_id::text::uuid and (available_at <= now() or lease_token is null)
  and available_at < now() + :move_far_from

-- fragment: arriving
-- The organisations that come here and live where they come from still. Rows of theirs have no others yet to which they
-- belong, and what is missing is copied again while they wait: it is kept until they have come.
(select a.org_id from org_move a where a.side = :move_new_side and a.state = :move_copying)

-- fragment: move_far
interval '876000 hours'

-- fragment: move_far_from
interval '438000 hours'

-- name: move_park_deliveries
update delivery set available_at = available_at + :move_far, lease_token = null
where org_id = @org_id::text::uuid and state :are_pending and (available_at <= now() or lease_token is null)
  and available_at < now() + :move_far_from

-- name: move_park_monitors
update monitor_sched s set live = false, portion_at = s.portion_at + :move_far
from monitor m
where m.org_id = @org_id::text::uuid and s.monitor_id = m.id
  and (s.live or s.portion_at < now() + :move_far_from)

-- name: move_park_imports
update monitor_import i set not_before = i.not_before + :move_far
from monitor m
where m.org_id = @org_id::text::uuid and i.monitor_id = m.id and i.not_before < now() + :move_far_from

-- name: move_park_workflows
update workflow_schedule set look_at = look_at + :move_far
where org_id = @org_id::text::uuid and look_at < now() + :move_far_from

-- name: move_park_digests
update channel set digest_at = digest_at + :move_far
where org_id = @org_id::text::uuid and digest_at < now() + :move_far_from

-- name: move_release_chunks
update chunk set available_at = available_at - :move_far
where org_id = @org_id::text::uuid and available_at > now() + :move_far_from

-- name: move_release_deliveries
update delivery set available_at = available_at - :move_far
where org_id = @org_id::text::uuid and state :are_pending and available_at > now() + :move_far_from

-- name: move_release_monitors
-- A monitor that is to run goes on with the slot that it was at: what came due meanwhile is one tick.
update monitor_sched s
set live = m.status = :status_active and o.monitors_run,
    portion_at = case when s.portion_at > now() + :move_far_from then s.portion_at - :move_far else s.portion_at end
from monitor m join organisation o on o.id = m.org_id
where m.org_id = @org_id::text::uuid and s.monitor_id = m.id
  and (s.portion_at is not null or s.live <> (m.status = :status_active and o.monitors_run))

-- name: move_release_imports
update monitor_import i set not_before = i.not_before - :move_far
from monitor m
where m.org_id = @org_id::text::uuid and i.monitor_id = m.id and i.not_before > now() + :move_far_from

-- name: move_release_workflows
update workflow_schedule set look_at = look_at - :move_far
where org_id = @org_id::text::uuid and look_at > now() + :move_far_from

-- name: move_release_digests
update channel set digest_at = digest_at - :move_far
where org_id = @org_id::text::uuid and digest_at > now() + :move_far_from

-- name: move_held
-- What somebody works on, by kind; under the lock also who may have begun before it.
select kind, count(*)
from (
  select 'chunks of checks' as kind from chunk
  where org_id = @org_id::text::uuid and (available_at < now() + :move_far_from)
  union all
  select 'deliveries' from delivery
  where org_id = @org_id::text::uuid and state :are_pending and available_at < now() + :move_far_from
  union all
  select 'chunks of jobs' from job_chunk
  where org_id = @org_id::text::uuid and lease_token is not null and available_at > now()
  union all
  select 'transactions from before the lock' from pg_stat_activity a, org_move m
  where m.org_id = @org_id::text::uuid and @is_locked::text::boolean and a.datname = current_database()
    and a.application_name like 'vedette %' and a.application_name <> 'vedette move'  -- of another organisation
    and a.xact_start < m.changed_at
) held
group by kind
order by kind

-- name: move_activity
-- What changes while a client sends a file.
select coalesce((select sum(bytes) from upload where org_id = @org_id::text::uuid), 0) || ' '
       || coalesce((select sum(lines) from search_import where org_id = @org_id::text::uuid), 0)

-- name: move_ledger
-- What the organisation has, what is reserved of it, and what its entries add up to.
select coalesce((select balance_mc from account where org_id = @org_id::text::uuid), 0),
       coalesce((select sum(reserved_mc) from chunk where org_id = @org_id::text::uuid), 0)
         + coalesce((select sum(reserved_mc) from job where org_id = @org_id::text::uuid), 0),
       coalesce((select sum(amount_mc) from credit_entry where org_id = @org_id::text::uuid), 0)

-- name: move_close_jobs
-- They go on at the new side. Nobody is told of this end.
update job set status = :job_cancelled, status_reason = 'moved', reserved_mc = 0,
  finished_at = greatest(now(), created_at, started_at)
where org_id = @org_id::text::uuid and finished_at is null

-- name: move_sealed_with
-- The keys that what it has is sealed with.
select distinct key_id
from (
  select encryption_key_id as key_id from signing_secret where org_id = @org_id::text::uuid
  union all
  select request_headers_key_id from monitor where org_id = @org_id::text::uuid
  union all
  select secrets_key_id from monitor_login where org_id = @org_id::text::uuid
  union all
  select sealed_url_key_id from channel where org_id = @org_id::text::uuid
) sealed
where key_id is not null

-- name: move_sealed_unlike
-- What is still sealed with another key than @key_id, by kind.
select kind, count(*)
from (
  select 'signing secrets' as kind from signing_secret
  where org_id = @org_id::text::uuid and encryption_key_id <> @key_id
  union all
  select 'request headers of monitors' from monitor
  where org_id = @org_id::text::uuid and request_headers_key_id <> @key_id
  union all
  select 'secrets of monitors' from monitor_login
  where org_id = @org_id::text::uuid and secrets_key_id <> @key_id
  union all
  select 'addresses of channels' from channel
  where org_id = @org_id::text::uuid and sealed_url_key_id <> @key_id
) sealed
group by kind

-- name: move_delete_organisation
delete from organisation where id = @org_id::text::uuid and lives_at is not null

-- name: move_audit
insert into audit (id, actor, action, target, org_id, detail, remote_address)
values (gen_random_uuid(), 'org-move', 'org.move', @org_id::text, @org_id::text::uuid,
        json_build_object('from', @from::text, 'to', @to::text), '')

-- name: move_members
select json_agg(user_id order by user_id) from org_user where org_id = @org_id::text::uuid and role is not null

-- name: move_ways
-- What each of the people signs in with, as a text; and whether he is known here but for the organisation that moves. How
-- often, and when, he has used it makes no difference.
select e.email, w.ways,
  w.ways <> '' or exists (select from org_user u
                          where u.user_id = e.email and u.role is not null and u.org_id <> @org_id::text::uuid)
from json_array_elements_text(@emails::text::json) with ordinality e(email, n)
cross join lateral (
  select concat((select password from member_password p where p.email = e.email),
                (select string_agg(concat(' ', k.credential_id, ' ', k.public_key, ' ', k.algorithm), '' order by k.credential_id)
                 from passkey k where k.email = e.email)) as ways) w
order by e.n

-- name: move_end_sign_in
-- What was begun with the ways that somebody had.
with links as (delete from one_time_secret where email = @email)
delete from access_token where user_id = @email and kind = :principal_user

-- name: move_audit_reset
-- An entry of the cell: he may be a member of several organisations.
insert into audit (id, actor, action, target, detail, remote_address)
values (gen_random_uuid(), 'org-move', 'member.reset_sign_in', @email, json_build_object('org_id', @org_id::text), '')
