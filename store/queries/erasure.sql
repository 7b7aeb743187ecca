-- name: erase_facts_find
-- @org_id organisation or null, @needles needles in lower case: facts whose address holds one.
select org_id, address from email_fact
where (@org_id::uuid is null or org_id = @org_id)
  and exists (select from unnest(@needles::text[]) as u(needle) where strpos(address, u.needle) > 0)
order by org_id, address

-- name: erase_facts
delete from email_fact f
using unnest(@org_id::uuid[], @address::text[]) as u(org_id, address)
where f.org_id = u.org_id and f.address = u.address

-- name: erase_recipients_find
-- Recipients of channels' e-mail whose address holds one, as erase_facts_find.
select id, address as said from recipient
where address is not null and (@org_id::uuid is null or org_id = @org_id)
  and exists (select from unnest(@needles::text[]) as u(needle)
              where strpos(lower(address collate "C"), u.needle) > 0)
order by id

-- name: erase_recipients
-- Nobody is told at these addresses again.
update recipient set address = null, status = :recipient_unsubscribed, status_reason = null
where id = any (@ids::uuid[])

-- name: erase_audit_find
-- Entries of the audit of which anything that somebody wrote, or that somebody is called, holds one, as erase_facts_find.
select a.id, a.said
from (select id, json_build_array(actor, target, reason, detail, on_behalf_of)::text as said from audit
      where @org_id::uuid is null or org_id = @org_id) a
where exists (select from unnest(@needles::text[]) as u(needle) where strpos(lower(a.said collate "C"), u.needle) > 0)
order by a.id

-- name: erase_audit
-- One that has no place in the chain yet gets its salt with it, and is covered as it is then. The name of an operator's token
-- stays; the address of one who has signed in does not.
update audit
set actor = case when principal_kind is null and strpos(actor, '@') = 0 then actor else 'erased' end, target = 'erased', reason = null,
  detail = null, remote_address = 'erased', on_behalf_of = null, salt = null, erased_at = now()
where id = any (@ids::uuid[])

-- name: erase_facts_by_name
-- @org_id organisation, @person_keys keys of one person, @guesses addresses that may have been guessed from the name:
-- facts about the person, and those guesses that nobody has.
select address from email_owner where org_id = @org_id and person_key = any(@person_keys::bytea[])
union
select f.address from email_fact f
where f.org_id = @org_id and f.address = any(@guesses::text[])
  and not exists (select from email_owner o where o.org_id = f.org_id and o.address = f.address)
order by address

-- name: erase_jobs_page
-- @org_id organisation or null, @after the last id of the page before, @needles needles in lower case, @limit limit.
-- The next jobs, and whether anything that is stored of each holds a needle.
select j.id,
       exists (select from unnest(@needles::text[]) as u(needle)
               where strpos(lower(j.params::text collate "C"), u.needle) > 0)
         or exists (select from job_block b, unnest(@needles::text[]) as u(needle)
                    where b.job_id = j.id and strpos(lower(b.specs::text collate "C"), u.needle) > 0)
         or exists (select from job_part p, unnest(@needles::text[]) as u(needle)
                    where p.job_id = j.id and strpos(lower(p.rows::text collate "C"), u.needle) > 0)
         or exists (select from job_chunk c, unnest(@needles::text[]) as u(needle)
                    where c.job_id = j.id and strpos(lower(c.done::text collate "C"), u.needle) > 0)
         or exists (select from finding f, unnest(@needles::text[]) as u(needle)
                    where f.investigation_id = j.id
                      and strpos(lower(json_build_array(f.subject, f.object, f.evidence, f.sources)::text collate "C"),
                                 u.needle) > 0) as is_match
from (select id, params from job where id > @after
  and (@org_id::uuid is null or org_id = @org_id) order by id limit @limit) j
order by j.id

-- name: erase_job_lock
select org_id, kind, part_rows, params from job where id = @job_id for no key update

-- name: erase_seeds_read
-- Locked behind its job, as by who records.
select seeds from investigation where id = @job_id for no key update

-- name: erase_findings_read
-- @job_id investigation, @needles needles in lower case: its findings that hold one.
select f.seq, f.subject, f.object, f.evidence, f.sources
from finding f
where f.investigation_id = @job_id
  and exists (select from unnest(@needles::text[]) as u(needle)
              where strpos(lower(json_build_array(f.subject, f.object, f.evidence, f.sources)::text collate "C"),
                           u.needle) > 0)
order by f.seq

-- name: erase_seeds
update investigation set seeds = @seeds::json where id = @job_id

-- name: erase_findings
-- @job_id investigation; then a row a finding.
update finding f set subject = u.subject, object = u.object, evidence = u.evidence, sources = u.sources
from unnest(@seq::bigint[], @subject::json[], @object::json[], @evidence::text[], @sources::json[])
  as u(seq, subject, object, evidence, sources)
where f.investigation_id = @job_id and f.seq = u.seq

-- name: erase_job_parts_read
select block, part, rows from job_part where job_id = @job_id order by block, part

-- name: erase_job_chunks_read
-- Locked in the order of their ids, as every statement that locks several chunks does.
select c.id, c.block, c.part, coalesce(c.done::text, 'null') as done, b.input
from job_chunk c join job_block b on b.job_id = c.job_id and b.block = c.block
where c.job_id = @job_id
order by c.id
for update of c

-- name: erase_job_blocks_read
-- Blocks of a run of whose specs anything holds a needle, as erase_facts_find.
select block, specs from job_block b
where b.job_id = @job_id
  and exists (select from unnest(@needles::text[]) as u(needle)
              where strpos(lower(b.specs::text collate "C"), u.needle) > 0)
order by block

-- name: erase_job_params
update job set params = @params::json where id = @job_id

-- name: erase_job_parts
update job_part p set rows = u.rows
from unnest(@block::smallint[], @part::int[], @rows::json[]) as u(block, part, rows)
where p.job_id = @job_id and p.block = u.block and p.part = u.part

-- name: erase_job_blocks
update job_block b set specs = u.specs
from unnest(@block::smallint[], @specs::json[]) as u(block, specs)
where b.job_id = @job_id and b.block = u.block

-- name: erase_job_chunks
-- The worker that holds such a chunk loses it, and with it what it knows of the person: it is claimed again as it is
-- now. One that waits for its rows does so no longer where none of them is left.
update job_chunk c
set done = u.done, lease_token = null,
  available_at = case when c.lease_token is not null then now()
                      when exists (select from json_object_keys(u.done -> 'later')) then c.available_at
                      else least(c.available_at, now()) end,
    claims = greatest(c.claims - 1, 0), suspect = null
from unnest(@id::uuid[], @done::json[]) as u(id, done)
where c.id = u.id

-- name: erase_job_rows_done
-- Rows that ended because they were erased.
update job_block b set rows_done = b.rows_done + u.rows, updated_at = now()
from unnest(@block::smallint[], @rows::int[]) as u(block, rows)
where b.job_id = @job_id and b.block = u.block

-- name: erase_attempts_page
-- @after the last delivery of the page before. The attempts of the next deliveries, all of each, with what was answered where
-- that holds a needle: it may be no text, and is compared by its bytes.
select a.delivery_id, a.attempt,
       case when (@org_id::uuid is null or a.org_id = @org_id)
              and exists (select from unnest(@needles::text[]) as u(needle)
                          where strpos(lower(encode(a.answer, 'escape') collate "C"),
                                       encode(convert_to(u.needle, 'UTF8'), 'escape')) > 0)
            then a.answer else '' end as answer
from (select delivery_id, attempt, org_id, answer from delivery_attempt where delivery_id > @after
      order by delivery_id fetch first (@limit) rows with ties) a
order by a.delivery_id

-- name: erase_attempts
update delivery_attempt a set answer = null
from unnest(@delivery_id::uuid[], @attempt::int[]) as u(delivery_id, attempt)
where a.delivery_id = u.delivery_id and a.attempt = u.attempt

-- name: erase_snapshots_page
-- The next snapshots with the texts of their pages, compressed.
select s.id, coalesce(c.body, '') as body
from (select id, org_id, text_hash from snapshot
      where id > @after and (@org_id::uuid is null or org_id = @org_id) order by id limit @limit) s
left join snapshot_content c on c.org_id = s.org_id and c.hash = s.text_hash
order by s.id

-- name: erase_rows_page
-- Rows of monitors, as erase_jobs_page; their text where it holds a needle.
select r.monitor_id, r.id, case when exists (select from unnest(@needles::text[]) as u(needle)
                                            where strpos(lower(r.text collate "C"),
                                              u.needle) > 0) then r.text end as text
from (select monitor_id, id, json_build_array(subject, context, baseline, known, pending)::text as text
      from monitor_row where id > @after and (@org_id::uuid is null or org_id = @org_id) order by id limit @limit) r
order by r.id

-- name: erase_monitors_page
-- Monitors, as erase_rows_page: what their owner wrote.
select m.id, case when exists (select from unnest(@needles::text[]) as u(needle)
                               where strpos(lower(m.text collate "C"), u.needle) > 0) then m.text end as text
from (select id, json_build_array(name, key_columns, struct, research_plan, metadata, webhook_url)::text as text
      from monitor where id > @after and (@org_id::uuid is null or org_id = @org_id) order by id limit @limit) m
order by m.id

-- name: erase_workflows_page
-- Workflows, as erase_rows_page: their definitions.
select w.id, case when exists (select from unnest(@needles::text[]) as u(needle)
                               where strpos(lower(w.text collate "C"), u.needle) > 0) then w.text end as text
from (select id, definition::text as text
      from workflow where id > @after and (@org_id::uuid is null or org_id = @org_id) order by id limit @limit) w
order by w.id

-- name: erase_schedules_page
-- Schedules of workflows, as erase_rows_page: what they give their runs.
select s.id, case when exists (select from unnest(@needles::text[]) as u(needle)
                               where strpos(lower(s.text collate "C"), u.needle) > 0) then s.text end as text
from (select id, json_build_array(specs_override, webhook_payload)::text as text
      from workflow_schedule where id > @after and (@org_id::uuid is null or org_id = @org_id) order by id limit @limit) s
order by s.id

-- name: suppressions_list
-- @after_at, @after the last one of the page before, or null; @kind kind, @org_id organisation; @limit limit
select id, kind, org_id, reason, created_at from suppression
where (@after_at::timestamptz is null or (created_at, id) < (@after_at::timestamptz, @after::uuid))
  and (@kind::int is null or kind = @kind)
  and (@org_id::uuid is null or org_id = @org_id)
order by created_at desc, id desc
limit @limit
