-- Statements without a safety, for [testing] disable alone: the tests of the fleet must notice each, those of
-- credentials the tests of the store.

-- name: record_lock_chunks_unfenced
-- Any token will do.
select c.id, c.reserved_mc, c.month, now(), :held_columns
from unnest(@id::uuid[], @token::uuid[]) as u(id, token)
join chunk c on c.id = any (array[u.id])
order by u.id
for update of c

-- name: record_row_states_unfenced
-- Rows that are recorded already are recorded again.
:whole_blocks_update

-- name: states_lock_unfenced
-- No row counts as checked yet.
select b.monitor_id, b.block, 0::bigint as tick_id, b.last_run_at, b.outcomes, b.groups,
       case when b.groups is not null then array_fill(0::bigint, array[cardinality(b.group_ticks)]) end as group_ticks,
       b.group_runs
:blocks_locked

-- name: accounts_reserve_nothing
select @org_id::uuid[], @amount_mc::bigint[]

-- name: chunk_renew_not
-- Every lease counts as held, and none is made longer.
select u.id, @lease_ms::bigint from unnest(@id::uuid[], @token::uuid[]) as u(id, token)

-- name: job_chunk_lock_any_token
-- Any token will do.
select u.n, c.progress = u.progress as is_fresh, c.progress = u.progress + 1 as was_before
from unnest(@job_id::uuid[], @id::uuid[], @token::uuid[], @progress::int[]) with ordinality as u(job_id, id, token,
  progress, n)
join job_chunk c on c.id = any (array[u.id]) and c.job_id is not distinct from u.job_id
order by u.id
for update of c

-- name: job_chunk_lock_any_progress
-- What was recorded already is recorded again.
select u.n, u.progress >= 0 as is_fresh, false as was_before
from unnest(@job_id::uuid[], @id::uuid[], @token::uuid[], @progress::int[]) with ordinality as u(job_id, id, token,
  progress, n)
join job_chunk c on c.id = any (array[u.id]) and c.lease_token = u.token and c.job_id is not distinct from u.job_id
order by u.id
for update of c

-- name: job_chunk_progress_any
update job_chunk c
set done = u.done, progress = u.progress + 1, claims = case when u.serial then c.claims else 0 end, suspect = null,
    last_error = coalesce(u.last_error, c.last_error)
from unnest(@id::uuid[], @progress::int[], @done::json[], @serial::boolean[], @last_error::text[]) as u(id, progress,
  done, serial, last_error)
where c.id = any (array[u.id])

-- name: job_insert_unreserved
-- The balance is taken, and nothing says for what.
with :job_asked, admitted as (select n, @month::date as month, 0::bigint as reserved_mc from asked), :job_inserted
select n from admitted

-- name: job_start_unreserved
with :job_asked, :job_payable, admitted as (select n, month, 0::bigint as reserved_mc from payable), :job_inserted
select n, open from payable

-- name: job_chunk_held_always
select u.id, @token::uuid[] is not null as may_run from unnest(@id::uuid[]) as u(id)

-- name: job_end_lock_not
-- Nobody waits for anybody.
select :job_locked_columns
from job j
where j.id = @job_id and (@org_id::uuid is null or j.org_id = @org_id)
  and (@team_id::uuid is null or j.team_id = @team_id)

-- name: parts_open_nothing
select @job_id::uuid[], @block::smallint[] where false

-- name: workflow_slot_decide_unfenced
-- Whatever the schedule is by now, and nobody is told that the slot was taken.
with moved as (
  update workflow_schedule s
  set next_at = case when @was_waiting::boolean then next_at else @next_at::timestamptz end,
      waiting_slot = case when @state::smallint = :slot_waiting then @slot::timestamptz
                          when not @was_waiting::boolean then waiting_slot end,
      look_at = now()
  where s.id = @schedule_id and @version::int is not null
  returning s.id
)
insert into workflow_slot (schedule_id, slot, state, reason, slots, run_id)
select m.id, @slot::timestamptz, @state::smallint, @reason::text, @slots::bigint, @run_id::uuid from moved m
on conflict (schedule_id, slot) do update
  set state = excluded.state, reason = excluded.reason, run_id = excluded.run_id, decided_at = now()
returning schedule_id

-- name: workflow_schedule_due_about_then
-- Two processes do not read the same slot, so that their runs have not the same id.
select s.id, s.org_id, s.team_id, s.workflow_id, s.frequency_s, s.schedule, s.anchor_at, s.overlap, s.catch_up_s,
       s.specs_override, s.webhook_payload, s.is_active and not o.locked as is_active, s.caller_kind, s.caller_id,
       s.on_behalf_of, case when s.next_at <= now() then s.next_at + random() * interval '900 microseconds' else s.next_at
       end as next_at, s.waiting_slot, s.version, o.features, false as run_open, now() as now
from workflow_schedule s
join organisation o on o.id = s.org_id
where s.id = @id

-- name: assertion_take_again
-- An assertion that was taken before is taken once more.
insert into assertion_jti (client_id, jti_sha256, expires_at) values (@client_id, @jti_sha256::bytea, @expires_at)
on conflict (client_id, jti_sha256) do update set expires_at = excluded.expires_at
returning client_id

-- name: authenticate_token_of_any_version
-- A client's token lives to its end, whatever became of the client and of its keys.
with found as (
  :live_token
    and (t.kind = :principal_user or @client_tokens::boolean)
), :requests_counted
select :caller_columns
from found f

-- name: client_keys_fetch_begin_always
-- Everybody who asks fetches, however many do.
update oauth_client set jwks_tried_at = clock_timestamp()
where id = @client_id and jwks_uri is not null and deleted_at is null and @retry_ms::bigint is not null
returning jwks_tried_at
