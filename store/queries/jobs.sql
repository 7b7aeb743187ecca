-- fragment: job_columns
-- The columns of job_shown.
id, org_id, team_id, kind, status, status_reason, error, caller_kind, caller_id, estimate_mc, reserved_mc, charged_mc,
  created_at, started_at, deadline_at, finished_at, rows_done, rows_total

-- fragment: job_locked_columns
-- The columns of a job j.
j.id, j.org_id, j.team_id, j.kind, j.status, j.status_reason, j.waited, j.month, j.reserved_mc, j.endpoint_id,
  exists (select from job_block b where b.job_id = j.id and b.endpoint_id is not null) as blocks_tell

-- fragment: job_waits_until
-- The time until which a job j stands still since permits to ask mail servers are used up: some of its chunks wait for
-- them, and none is worked on or due. Null of any other. What a chunk waits for says nothing while somebody holds it.
case when exists (select from job_chunk w where w.job_id = j.id and w.waits_for = :wait_mail_budget)
     then (select min(c.available_at) filter (where c.waits_for = :wait_mail_budget)
           from job_chunk c
           where c.job_id = j.id
           having bool_and(c.lease_token is null and c.available_at > now())) end

-- name: job_start_read
-- The month that a reservation made now counts in, and how many jobs of the organisation @org_id are open, up to
-- @open_per_org_max.
select date_trunc('month', now() at time zone 'UTC')::date as month,
       (select count(*) from (select from job where org_id = @org_id and finished_at is null
                              limit @open_per_org_max) open) as open

-- name: job_open_of_kind
select count(*) from job where org_id = @org_id and kind = @kind and finished_at is null

-- fragment: job_asked
-- The jobs that are to be inserted, n counts them from 1.
asked as materialized (
  select *
  from unnest(@id::uuid[], @org_id::uuid[], @team_id::uuid[], @kind::smallint[], @name::text[], @workflow_id::uuid[],
              @upload_id::uuid[], @part_rows::smallint[], @params::json[], @waited::boolean[], @caller_kind::smallint[],
              @caller_id::uuid[], @remote_address::text[], @estimate_mc::bigint[], @webhook_url::text[],
              @endpoint_id::uuid[], @deadline_ms::bigint[], @on_behalf_of::text[])
    with ordinality as a(id, org_id, team_id, kind, name, workflow_id, upload_id, part_rows, params, waited,
                         caller_kind, caller_id, remote_address, estimate_mc, webhook_url, endpoint_id, deadline_ms,
                         on_behalf_of, n)
)

-- fragment: job_inserted
-- The jobs of `asked` that `admitted` has (n, month, reserved_mc), their blocks, the parts that the request gave (from
-- @part_n on), and the chunks of the parts that begin at once: @opened of a block are opened, but where @made says that
-- the block's parts are there already. A job with a client that waits has rank 0. @block_n and @part_n name jobs by n.
job_made as (
  insert into job (id, org_id, team_id, kind, name, workflow_id, upload_id, part_rows, params, waited, caller_kind,
                   caller_id, remote_address, estimate_mc, reserved_mc, month, webhook_url, endpoint_id, deadline_at,
                   on_behalf_of)
  select a.id, a.org_id, a.team_id, a.kind, a.name, a.workflow_id, a.upload_id, a.part_rows, a.params, a.waited,
    a.caller_kind,
         a.caller_id, a.remote_address, a.estimate_mc, d.reserved_mc, d.month, a.webhook_url, a.endpoint_id,
         now() + a.deadline_ms * interval '1 millisecond', a.on_behalf_of
  from asked a
  join admitted d on d.n = a.n
), given as materialized (
  select a.id, a.org_id, a.waited, g.*
  from unnest(@block_n::int[], @block::smallint[], @type::text[], @specs::json[], @input::smallint[], @lane::smallint[],
              @price_mc::bigint[], @after_drop::boolean[], @columns::text[], @rows_total::bigint[], @parts_total::int[],
              @part_window::int[], @opened::int[], @made::boolean[], @block_webhook_url::text[],
              @block_endpoint_id::uuid[], @bytes::bigint[], @pace_us::bigint[])
    as g(n, block, type, specs, input, lane, price_mc, after_drop, columns, rows_total, parts_total, part_window,
         opened, made, webhook_url, endpoint_id, bytes, pace_us)
  join admitted d on d.n = g.n
  join asked a on a.n = g.n
), blocks as (
  insert into job_block (job_id, block, type, specs, input, lane, price_mc, after_drop, columns, rows_total,
    parts_total,
                         part_window, webhook_url, endpoint_id, bytes, pace_us, opened, parts_done, rows_done, rows_out,
                         status, started_at, finished_at)
  select g.id, g.block, g.type, g.specs, g.input, g.lane, g.price_mc, g.after_drop, g.columns::text[], g.rows_total,
         g.parts_total, g.part_window, g.webhook_url, g.endpoint_id, g.bytes, g.pace_us, g.opened,
         case when g.made then g.parts_total else 0 end, case when g.made then g.rows_total else 0 end,
         case when g.made then g.rows_total else 0 end, case when g.made then :block_completed else :block_pending end,
         case when g.made then now() end, case when g.made then now() end
  from given g
), parts as (
  insert into job_part (job_id, block, part, rows, row_count)
  select a.id, p.block, p.part, p.rows, p.row_count
  from unnest(@part_n::int[], @part_block::smallint[], @part::int[], @rows::json[], @row_count::smallint[])
    as p(n, block, part, rows, row_count)
  join admitted d on d.n = p.n
  join asked a on a.n = p.n
), chunks as (
  insert into job_chunk (id, org_id, lane, rank, available_at, due_at, job_id, block, part)
  select gen_random_uuid(), g.org_id, g.lane, case when g.waited then 0 else 1 end, now(), now(), g.id, g.block, p.part
  from given g
  cross join lateral generate_series(0, g.opened - 1) as p(part)
  where not g.made
)

-- name: job_insert
-- One job. Its estimate, which counts in the month @month, is reserved already.
with :job_asked, admitted as (select n, @month::date as month, estimate_mc as reserved_mc from asked), :job_inserted
select n from admitted

-- fragment: job_payable
-- All of `asked`, and the month, where their organisation has room for them, for @open_per_org_max open jobs and
-- @runs_per_org_max runs at most, under @run_data_max bytes of run data left by those that have ended, and the balance,
-- from which they are taken; else none. They are one organisation's. Its account is the only row that is locked.
-- Without @count_open nobody asks how many are open.
wanted as materialized (
  select count(*) as jobs, count(*) filter (where kind = :kind_workflow) as runs,
    sum(estimate_mc)::bigint as estimate_mc,
         (select org_id from asked limit 1) as org_id
  from asked
), room as materialized (
  select w.estimate_mc, w.org_id, open.jobs as open
  from wanted w
  cross join lateral (
    select count(*) as jobs, count(*) filter (where kind = :kind_workflow) as runs
    from (select kind from job where org_id = w.org_id and finished_at is null
          limit case when @count_open then @open_per_org_max::int else 0 end) o
  ) open
  where open.jobs + w.jobs <= @open_per_org_max::int
    and (w.runs = 0 or open.runs + w.runs <= @runs_per_org_max::int
                       and (select coalesce(sum(bytes), 0) from run_data
                            where org_id = w.org_id) < @run_data_max::bigint)
), taken as (
  update account a set balance_mc = a.balance_mc - (select estimate_mc from room)
  where a.org_id = (select org_id from room) and (select estimate_mc from room) > 0
    and a.balance_mc >= (select estimate_mc from room)
  returning a.org_id
), payable as materialized (
  select a.n, date_trunc('month', now() at time zone 'UTC')::date as month, a.estimate_mc, r.open
  from asked a
  cross join room r
  where r.estimate_mc = 0 or exists (select from taken)
)

-- name: job_start
-- Reserves and starts in one statement jobs for which nothing else is to be asked or locked: no team's limit, no
-- receiver, no file. Where it starts none, job_start_read and what follows find out why, for each by itself.
with :job_asked, :job_payable, admitted as (select n, month, estimate_mc as reserved_mc from payable), :job_inserted
select n, open from payable

-- name: parts_open
-- Opens the next parts of the blocks (@job_id, @block: jobs and blocks) and of those that consume them, in order: as
-- many as their windows leave room for and as their inputs have made (domain/job/block_progress.h says the same). Runs
-- under the jobs' locks, so that it sees what earlier holders of those locks committed.
with room as (
  select b.job_id, b.block, b.input, b.lane, b.opened, j.org_id, j.waited,
         least(b.part_window - (b.opened - b.parts_done), b.parts_total - b.opened) as n
  from (select job_id, array_agg(block) as blocks from unnest(@job_id::uuid[], @block::smallint[]) as g(job_id, block)
        group by job_id) u
  join job j on j.id = u.job_id and j.finished_at is null
  join job_block b on b.job_id = u.job_id and (b.block = any(u.blocks) or b.input = any(u.blocks))
), ready as (
  select room.*, x.part from room cross join lateral (
    select p.part, p.part - row_number() over (order by p.part) + 1 as base from (
      select part from job_part where job_id = room.job_id and block = room.input and part >= room.opened
      order by part limit greatest(room.n, 0)) p) x
  where x.base = room.opened  -- the contiguous head of what is there
  union all
  select room.*, g from room, generate_series(opened, opened + n - 1) g
   where input is null  -- a source waits for nobody
), made as (
  insert into job_chunk (id, org_id, lane, rank, available_at, due_at, job_id, block, part)
  select gen_random_uuid(), org_id, lane, case when waited then 0 else 1 end, now(), now(), job_id, block, part
  from ready
)
update job_block b set opened = b.opened + c.n
from (select job_id, block, count(*) as n from ready group by job_id, block) c
where b.job_id = c.job_id and b.block = c.block
returning b.block

-- fragment: jobs_begin
-- Whether chunks of jobs of an organisation o may begin: it is not locked, and what is under way does not end for its move.
not o.locked and not exists (select from org_move m where m.org_id = o.id and m.side = :move_old_side and m.state = :move_draining)

-- name: job_scan
-- For each lane of @lane the organisations that have chunks, from behind @behind on, at most @orgs_max; for each rank
-- the rows of the first due chunk, at most; null where none is due or the organisation's jobs stand.
with recursive scan(lane, org_id, n) as (
  select l.lane, (select c.org_id from job_chunk c where c.lane = l.lane and c.org_id > l.behind
                  order by c.org_id limit 1), 1
  from unnest(@lane::smallint[], @behind::uuid[]) as l(lane, behind)
  union all
  select w.lane, (select c.org_id from job_chunk c where c.lane = w.lane and c.org_id > w.org_id
                  order by c.org_id limit 1), w.n + 1
  from scan w
  where w.org_id is not null and w.n < @orgs_max
)
select w.lane, w.org_id, r.rank, case when :jobs_begin then first.part_rows end as part_rows, w.n,
       first.available_at as first_at, now()
from scan w
join organisation o on o.id = w.org_id
cross join (values (0), (1)) as r(rank)
left join lateral (
  select j.part_rows, c.available_at
  from (select job_id, available_at from job_chunk c
        where c.lane = w.lane and c.org_id = w.org_id and c.rank = r.rank and c.available_at <= now()
        order by c.available_at limit 1) c
  join job j on j.id = c.job_id) first on true
order by w.lane, w.org_id, r.rank

-- name: job_scan_bounds
-- The scan of job_scan beside a snapshot (store/scan_bounds.h): all organisations in their order, whether they have
-- chunks or not, and of those in @org_id (by lane and rank) only what became available at @from_at or later.
select l.lane, o.id as org_id, r.rank, case when :jobs_begin then first.part_rows end as part_rows, o.n,
       first.available_at as first_at, now()
from unnest(@lane::smallint[], @behind::uuid[]) as l(lane, behind)
cross join lateral (
  select id, locked, row_number() over (order by id) as n
  from (select id, locked from organisation where id > l.behind order by id limit @orgs_max) portion) o
cross join (values (0), (1)) as r(rank)
left join unnest(@of_lane::smallint[], @org_id::uuid[], @rank::int[], @from_at::timestamptz[])
  as b(lane, org_id, rank, from_at) on b.lane = l.lane and b.org_id = o.id and b.rank = r.rank
left join lateral (
  select j.part_rows, c.available_at
  from (select job_id, available_at from job_chunk c
        where c.lane = l.lane and c.org_id = o.id and c.rank = r.rank and c.available_at <= now()
          and c.available_at >= coalesce(b.from_at, '-infinity')
        order by c.available_at limit 1) c
  join job j on j.id = c.job_id) first on true
order by l.lane, o.id, r.rank

-- fragment: job_begun
-- The jobs and blocks of `begun` run from now on. What somebody else has locked is left to its next claim or record.
queued as (
  select j.id from job j
  where j.id in (select job_id from begun) and j.status = :job_queued
  order by j.id
  for no key update of j skip locked
), started as (
  update job j set status = :job_running, started_at = greatest(now(), j.created_at) from queued q where j.id = q.id
), pending as (
  select b.job_id, b.block
  from (select distinct job_id, block from begun) u
  join job_block b on b.job_id = u.job_id and b.block = u.block and b.status = :block_pending
  order by b.job_id, b.block
  for no key update of b skip locked
), blocks_started as (
  update job_block b set status = :block_running, started_at = now(), updated_at = now()
  from pending p
  where b.job_id = p.job_id and b.block = p.block
)

-- name: job_claim
-- @lane lanes, @org_id organisations, @rank_max the highest rank, @chunks_max chunks of each; @token token, @lease_ms
-- lease in ms. What became available before @from_at is left, and what has a lower rank than @rank_min: the scan begins
-- there (null and 0: nothing is left).
with due as materialized (
  select c.id
  from unnest(@lane::smallint[], @org_id::uuid[], @rank_min::smallint[], @rank_max::smallint[], @chunks_max::int[],
              @from_at::timestamptz[]) as s(lane, org_id, rank_min, rank_max, chunks_max, from_at)
  join organisation o on o.id = s.org_id and :jobs_begin
  cross join lateral (
    select id from job_chunk
    where lane = s.lane and org_id = s.org_id and rank <= s.rank_max and available_at <= now()
      and (rank, available_at) >= (s.rank_min, coalesce(s.from_at, '-infinity'))
    order by rank, available_at
    limit s.chunks_max
    for update skip locked
  ) c
), claimed as (
  update job_chunk c
  set available_at = now() + @lease_ms * interval '1 millisecond', lease_token = @token, claims = c.claims + 1
  from due d
  where c.id = any (array[d.id])
  returning c.id, c.job_id, c.org_id, c.lane, c.rank, c.block, c.part, c.claims, c.progress, c.due_at, c.done, c.suspect
), begun as (select job_id, block from claimed), :job_begun
select id, job_id, org_id, lane, rank, block, part, claims, progress, due_at, done, suspect, now() from claimed

-- name: job_started
-- Jobs and blocks (@job_id, @block) of which no claim could say it.
with begun as (select d.job_id, d.block from unnest(@job_id::uuid[], @block::smallint[]) as d(job_id, block)),
  :job_begun
select from begun where false

-- name: job_specs
-- A row a block. Params can be large: the first block's row has them.
select j.id, j.org_id, j.team_id, j.kind, j.part_rows, j.waited, case when b.block = 0 then j.params end as params,
  j.upload_id,
       j.created_at, j.deadline_at, b.block, b.type, b.specs, b.input, b.lane, b.price_mc, b.parts_total,
         b.after_drop, b.columns
from job j
join job_block b on b.job_id = j.id
where j.id = any(@ids::uuid[])
order by j.id, b.block

-- name: job_parts_of
-- The rows that the chunks (jobs @job_id, blocks @block, parts @part) work on; n counts them from 1. None for a source.
select u.n, p.rows, p.row_count
from unnest(@job_id::uuid[], @block::smallint[], @part::int[]) with ordinality as u(job_id, block, part, n)
join job_block b on b.job_id = u.job_id and b.block = u.block
join job_part p on p.job_id = u.job_id and p.block = b.input and p.part = u.part

-- name: job_chunk_renew
-- It waits for nobody: a record that fails its job locks its own chunks and then all of the job's, so that a renewal
-- that waited between the two would meet it in a deadlock. A chunk that is locked is held, and is extended by the next
-- renewal.
with free as (
  select c.id
  from unnest(@id::uuid[], @token::uuid[]) as u(id, token)
  join job_chunk c on c.id = any (array[u.id]) and c.lease_token = u.token
  for update of c skip locked
), renewed as (
  update job_chunk c set available_at = now() + @lease_ms * interval '1 millisecond'
  from free f
  where c.id = any (array[f.id])
)
select c.id
from unnest(@id::uuid[], @token::uuid[]) as u(id, token)
join job_chunk c on c.id = any (array[u.id]) and c.lease_token = u.token

-- name: job_chunk_put_back
-- @delay_ms delays in ms; 0: given back, before what waits, its claim not counted; @waits_for what it waits for, 0:
-- nothing that is told. It is never null from then on: the mark of a chunk that somebody had (run_grow_from).
with held as (
  select c.id, u.delay_ms, u.waits_for
  from unnest(@id::uuid[], @token::uuid[], @delay_ms::bigint[], @waits_for::smallint[]) as u(id, token, delay_ms,
    waits_for)
  join job_chunk c on c.id = any (array[u.id]) and c.lease_token = u.token
  order by u.id
  for update of c
)
update job_chunk c
set lease_token = null,
    available_at = case when h.delay_ms = 0 then least(c.due_at, now())
                        else now() + h.delay_ms * interval '1 millisecond' end,
    due_at = case when h.delay_ms = 0 then c.due_at else now() + h.delay_ms * interval '1 millisecond' end,
    claims = case when h.delay_ms = 0 then greatest(c.claims - 1, 0) else 0 end, waits_for = h.waits_for,
    suspect = null  -- the process that puts a chunk back lives: the try that was under way did not end it
from held h
where c.id = any (array[h.id])

-- name: job_chunk_held
select c.id, not o.locked as may_run
from unnest(@id::uuid[], @token::uuid[]) as u(id, token)
join job_chunk c on c.id = any (array[u.id]) and c.lease_token = u.token
join organisation o on o.id = c.org_id
order by u.id

-- name: job_chunk_suspect
update job_chunk set suspect = @row where id = @id and lease_token = @token
returning id

-- name: job_lock
-- What a record needs of its jobs @ids, locked in the order of their ids: whether money is reserved as rows come
-- through a block that drops some, whether a block has no parts of its own, and whether the deadline has come. Of the
-- blocks it reads what never changes: they are as they were before this statement waited for the lock.
select :job_locked_columns, b.tops_up, b.attached, j.deadline_at <= clock_timestamp() as is_overdue, now()
from job j
cross join lateral (
  select bool_or(b.after_drop and b.price_mc > 0) as tops_up, bool_or(b.parts_total = 0) as attached
  from job_block b
  where b.job_id = j.id) b
where j.id = any(@ids::uuid[])
order by j.id
for no key update of j

-- name: job_chunk_lock
-- @job_id jobs, @id ids, @token tokens, @progress records made before; n counts them from 1. What is not returned is
-- not held any more.
select u.n, c.progress = u.progress as is_fresh, c.progress = u.progress + 1 as was_before
from unnest(@job_id::uuid[], @id::uuid[], @token::uuid[], @progress::int[]) with ordinality as u(job_id, id, token,
  progress, n)
join job_chunk c on c.id = any (array[u.id]) and c.lease_token = u.token and c.job_id is not distinct from u.job_id
order by u.id
for update of c

-- name: job_chunks_lock
-- All of the jobs @job_ids, in the order of their ids, as every statement that locks several chunks does.
select from job_chunk where job_id = any(@job_ids::uuid[]) order by id for update

-- name: job_block_add
-- Adds what a record did to each block (@job_id, @block: jobs and blocks); its last part completes it. @passed of the
-- parts that are done had no chunk: they are opened with it. The chunks @ended, whose parts have ended, go, and the
-- parts that were made come (from @part_job_id on). A part's key is the last fence: one that exists is a bug, and
-- nothing happens.
with gone as (
  delete from job_chunk where id = any(@ended::uuid[])
), made as (
  insert into job_part (job_id, block, part, rows, row_count)
  select m.job_id, m.block, m.part, m.rows, m.row_count
  from unnest(@part_job_id::uuid[], @part_block::smallint[], @part::int[], @rows::json[],
    @row_count::smallint[]) as m(job_id, block, part, rows, row_count)
)
update job_block b
set columns = coalesce(b.columns, u.columns::text[]), opened = b.opened + u.passed,
    parts_done = b.parts_done + u.parts_done, rows_done = b.rows_done + u.rows_done, rows_out = b.rows_out + u.rows_out,
    row_errors = b.row_errors + u.row_errors, rows_charged = b.rows_charged + u.rows_charged, updated_at = now(),
    rows_timed = b.rows_timed + u.rows_timed, rows_took_us = b.rows_took_us + u.rows_took_us, bytes = b.bytes + u.bytes,
    last_error = coalesce(u.last_error, b.last_error),
    started_at = coalesce(b.started_at, now()),
    status = case when b.parts_done + u.parts_done = b.parts_total then :block_completed else :block_running end,
    finished_at = case when b.parts_done + u.parts_done = b.parts_total then now() end
from unnest(@job_id::uuid[], @block::smallint[], @columns::text[], @parts_done::int[], @rows_done::int[],
  @rows_out::int[], @row_errors::int[], @rows_charged::int[], @last_error::text[],
            @rows_timed::int[], @rows_took_us::bigint[], @passed::int[], @bytes::bigint[])
  as u(job_id, block, columns, parts_done, rows_done, rows_out, row_errors, rows_charged, last_error, rows_timed,
    rows_took_us,
       passed, bytes)
where b.job_id = u.job_id and b.block = u.block
returning b.job_id, b.block, b.status = :block_completed as is_completed,
  -- How many of the job were not completed when this statement began; asked only where a block is.
  case when b.status = :block_completed then
    (select count(*) from job_block o where o.job_id = b.job_id and o.status <> :block_completed) end as blocks_left

-- name: job_chunk_progress
update job_chunk c
set done = u.done, progress = u.progress + 1, claims = case when u.serial then c.claims else 0 end, suspect = null,
    last_error = coalesce(u.last_error, c.last_error)
from unnest(@id::uuid[], @progress::int[], @done::json[], @serial::boolean[], @last_error::text[]) as u(id, progress,
  done, serial, last_error)
where c.id = any (array[u.id]) and c.progress = u.progress

-- name: job_charge
-- Charges and books, of the jobs @id that go on, @amount_mc for @rows rows. The end of a job charges what is due with
-- it: job_finish.
with charged as (
  update job j set charged_mc = j.charged_mc + u.amount_mc, reserved_mc = j.reserved_mc - u.amount_mc
  from unnest(@id::uuid[], @amount_mc::bigint[], @rows::int[]) as u(id, amount_mc, rows)
  where j.id = u.id
  returning j.id, j.org_id, j.team_id, u.amount_mc, u.rows
)
insert into credit_entry (org_id, team_id, amount_mc, checks, job_id)
select org_id, team_id, -amount_mc, rows, id from charged

-- name: job_top_up_due
-- What the rows that came through (@row_count of the block @block) cost in the priced blocks that consume them.
select coalesce(sum(u.row_count * b.price_mc), 0)::bigint
from unnest(@block::smallint[], @row_count::int[]) as u(block, row_count)
join job_block b on b.job_id = @job_id and b.input = u.block and b.after_drop and b.price_mc > 0

-- name: job_top_up
update job set estimate_mc = estimate_mc + @more_mc, reserved_mc = reserved_mc + @more_mc where id = @id

-- name: job_block_end
-- Blocks without parts of their own are completed with their input, one of @block, of the jobs @job_id beside it.
-- Returns how many of each job are not completed yet.
with ended as (
  update job_block b
  set status = :block_completed, started_at = coalesce(b.started_at, now()), updated_at = now(), finished_at = now()
  from unnest(@job_id::uuid[], @block::smallint[]) as u(job_id, block)
  where b.job_id = u.job_id and b.input = u.block and b.parts_total = 0 and b.status < :block_completed
  returning b.job_id, b.block
)
select u.id, (select count(*) from job_block b
              where b.job_id = u.id and b.status <> :block_completed
                and not exists (select from ended e where e.job_id = b.job_id and e.block = b.block)) as left
from (select distinct id from unnest(@job_id::uuid[]) as g(id)) u

-- name: job_block_fail
update job_block set status = :block_failed, error = @error, started_at = coalesce(started_at, now()),
  updated_at = now(),
                     finished_at = now()
where job_id = @job_id and block = @block

-- name: job_end_lock
select :job_locked_columns
from job j
where j.id = @job_id and (@org_id::uuid is null or j.org_id = @org_id)
  and (@team_id::uuid is null or j.team_id = @team_id)
for no key update

-- name: job_chunks_take
-- Nobody works on the jobs @job_ids any more; what was recorded of unfinished parts becomes parts.
with taken as (
  select id from job_chunk where job_id = any(@job_ids::uuid[]) order by id for update
), gone as (
  delete from job_chunk c using taken t where c.id = any (array[t.id]) returning c.job_id, c.block, c.part, c.done
), kept as (
  insert into job_part (job_id, block, part, rows, row_count)
  select job_id, block, part, done -> 'rows', json_array_length(done -> 'rows') from gone where done is not null
)
-- The output of their blocks has the rows that ended; the others are null.
update job_block b
set rows_out = b.rows_out + made.rows_out
from (select g.job_id, g.block, count(*) as rows_out
      from gone g cross join lateral json_array_elements(g.done -> 'rows') as r(cells)
      where json_typeof(r.cells) <> 'null'
      group by g.job_id, g.block) made
where b.job_id = made.job_id and b.block = made.block

-- name: job_finish
-- Ends the jobs @id; charges and books @amount_mc for @rows rows with the end, where that is more than nothing. Counts
-- what runs leave; of one that was cancelled nobody reads the rows of its source again.
with given as (
  select * from unnest(@id::uuid[], @status::smallint[], @status_reason::text[], @error::text[], @amount_mc::bigint[],
    @rows::int[])
    as u(id, status, status_reason, error, amount_mc, rows)
), booked as (
  insert into credit_entry (org_id, team_id, amount_mc, checks, job_id)
  select j.org_id, j.team_id, -g.amount_mc, g.rows, j.id from given g join job j on j.id = g.id where g.amount_mc > 0
), left_behind as materialized (
  select j.id, j.org_id, (j.created_at at time zone 'UTC')::date as day, g.status, sum(b.bytes) as bytes,
         sum(b.bytes) filter (where b.block = 0) as source_bytes
  from given g
  join job j on j.id = g.id and j.kind = :kind_workflow
  join job_block b on b.job_id = j.id
  group by j.id, j.org_id, j.created_at, g.status
  having sum(b.bytes) > 0
), counted as (
  insert into run_data (org_id, day, shard, bytes)
  select org_id, day, pg_backend_pid() % 16, sum(bytes) from left_behind group by org_id, day order by org_id, day
  on conflict (org_id, day, shard) do update set bytes = run_data.bytes + excluded.bytes
), unread as (
  insert into run_data_unread (job_id, bytes)
  select id, source_bytes from left_behind where status in (:job_cancelled, :job_terminated) and source_bytes > 0
)
update job j
set status = g.status, status_reason = g.status_reason, error = g.error, reserved_mc = 0,
  charged_mc = j.charged_mc + g.amount_mc,
    started_at = coalesce(j.started_at, case when g.status = :job_completed then greatest(now(), j.created_at) end),
    finished_at = greatest(now(), j.created_at, j.started_at)
from given g
where j.id = g.id
returning j.id, (extract(epoch from j.finished_at - j.created_at) * 1000000)::bigint as took

-- name: job_delivery_insert
-- A row a delivery; @block: the block that tells it, or null for the job itself.
insert into delivery (id, org_id, endpoint_id, event_group_id, type, available_at, job_id, job_status, block)
select u.id, u.org_id, u.endpoint_id, u.event_group_id, u.type, now(), u.job_id, u.job_status, u.block
from unnest(@id::uuid[], @org_id::uuid[], @endpoint_id::uuid[], @event_group_id::uuid[], @type::smallint[],
  @job_id::uuid[], @job_status::smallint[], @block::smallint[])
  as u(id, org_id, endpoint_id, event_group_id, type, job_id, job_status, block)

-- name: job_lane_served
-- The lanes that members serve whose heartbeat is under @fresh_s seconds old and that are not draining.
select distinct unnest(lanes) from member
where heartbeat_at > now() - @fresh_s * interval '1 second' and not draining

-- name: job_lane_move
-- Chunks of the lane @from_lane that have been due for @wait_ms ms go to the lane @to_lane, at most @limit.
with stuck as (
  select id from job_chunk
  where lane = @from_lane and available_at < now() - @wait_ms * interval '1 millisecond'
  order by id
  limit @limit
  for update skip locked
)
update job_chunk c set lane = @to_lane from stuck s where c.id = s.id

-- name: job_blocks_forget
delete from job_block where job_id = any(@job_ids::uuid[])

-- name: job_parts_forget
delete from job_part where job_id = any(@job_ids::uuid[])

-- name: job_part_days_old
-- Days whose ids are all older than @kept_h hours and none of whose jobs is open. The names are ensure_partition's.
select d.relname
from (select c.relname, to_date(right(c.relname, 8), 'YYYYMMDD')::timestamp at time zone 'UTC' as day
      from pg_inherits i join pg_class c on c.oid = i.inhrelid join pg_class p on p.oid = i.inhparent
      where p.relname = 'job_part' and c.relname ~ '_[0-9]{8}$' and c.relnamespace = 'public'::regnamespace) d
where d.day + interval '1 day' < now() - @kept_h * interval '1 hour'
  and not exists (select from job j where j.finished_at is null
                  and j.id >= job_part_bound(d.day) and j.id < job_part_bound(d.day + interval '1 day'))

-- name: job_part_default_expire
-- @kept_h hours; @limit rows
with gone as (
  delete from only job_part_default
  where ctid = any (array(
    select ctid from only job_part_default p
    where job_id < job_part_bound(now() - @kept_h * interval '1 hour')
      and not exists (select from job j where j.id = p.job_id and j.finished_at is null)
    limit @limit))
  returning 1)
select count(*) from gone

-- name: job_get
select :job_columns, :job_waits_until as waiting_until from job_shown j
where id = @job_id and (@org_id::uuid is null or org_id = @org_id) and (@team_id::uuid is null or team_id = @team_id)

-- name: job_get_lookup
-- Its request, and its rows once it has ended.
select j.params, p.rows
from job j
left join job_part p on p.job_id = j.id and p.block = 0 and p.part = 0 and j.finished_at is not null
where j.id = @job_id

-- name: job_callbacks
-- Ended lookups (@job_ids), each with its request and its rows.
select j.id, j.kind, j.status, j.status_reason, j.error, j.charged_mc, j.created_at, j.finished_at, j.params, p.rows
from job j
left join job_part p on p.job_id = j.id and p.block = 0 and p.part = 0
where j.id = any(@job_ids::uuid[]) and j.finished_at is not null

-- name: job_list
-- @before the last id of the page before; @org_id organisation; @team_id team; @kind kind; @status status; @limit limit
select :job_columns, :job_waits_until as waiting_until from job_shown j
where id < @before
  and (@org_id::uuid is null or org_id = @org_id)
  and (@team_id::uuid is null or team_id = @team_id)
  and (@kind::int is null or kind = @kind)
  and (@status::int is null or status = @status)
  and (@status::int is null or @status >= :job_completed or finished_at is null)  -- open ones are found by their index
order by id desc
limit @limit

-- name: job_ended
select u.id from unnest(@job_ids::uuid[]) as u(id)
where not exists (select from job j where j.id = u.id and j.finished_at is null)

-- name: job_blocks_read
select block, type, input, lane, status, error, last_error, rows_total, parts_total, opened, parts_done, part_window,
  rows_done,
       rows_out, row_errors, rows_charged, started_at, updated_at, finished_at
from job_block
where job_id = @job_id
order by block

-- name: job_chunks_read
select id, lane, rank, block, part, claims, progress, suspect, lease_token is not null
  and available_at > now() as leased,
       available_at, due_at, last_error
from job_chunk
where job_id = @job_id
order by block, part
limit @limit

-- name: job_lane_gauges
-- A locked organisation's chunks are nobody's to take, and wait.
select c.lane,
       count(*) filter (where c.available_at <= now() and not o.locked) as due,
       count(*) filter (where c.available_at > now() and c.lease_token is not null) as leased,
       count(*) filter (where case when c.available_at > now() then c.lease_token is null else o.locked end) as waiting,
       coalesce(extract(epoch from now() - min(c.due_at) filter (where c.available_at <= now() and not o.locked))
                * 1000000, 0)::bigint as oldest_due
from job_chunk c
join organisation o on o.id = c.org_id
group by c.lane

-- name: job_gauges
-- The number of each kind and status among the @limit open jobs whose deadlines come first, and, the same in each
-- line, how long the earliest deadline has passed.
select kind, status, count(*) as jobs,
       greatest(extract(epoch from now() - min(min(deadline_at)) over ()) * 1000000, 0)::bigint as overdue
from (select kind, status, deadline_at from job where finished_at is null order by deadline_at limit @limit) open
group by kind, status
order by kind, status

-- name: job_waiting_orgs
-- @jobs_max open jobs that are looked at; @limit limit
select o.id, o.name, w.jobs
from (
  select org_id, count(*) as jobs
  from (select org_id, waited from job where finished_at is null order by deadline_at limit @jobs_max) open
  where waited
  group by org_id
  order by 2 desc, 1
  limit @limit) w
join organisation o on o.id = w.org_id
order by w.jobs desc, o.id
