-- name: erase_facts_find
-- $1 organisation or null, $2 needles in lower case: facts whose address holds one.
select org_id, address from email_fact
where ($1::uuid is null or org_id = $1)
  and exists (select from unnest($2::text[]) as u(needle) where strpos(address, u.needle) > 0)
order by org_id, address

-- name: erase_facts
delete from email_fact f
using unnest($1::uuid[], $2::text[]) as u(org_id, address)
where f.org_id = u.org_id and f.address = u.address

-- name: erase_facts_by_name
-- $1 organisation, $2 keys of one person, $3 addresses that may have been guessed from the name: facts about the
-- person, and those guesses that nobody has.
select address from email_owner where org_id = $1 and person_key = any($2::bytea[])
union
select f.address from email_fact f
where f.org_id = $1 and f.address = any($3::text[])
  and not exists (select from email_owner o where o.org_id = f.org_id and o.address = f.address)
order by address

-- name: erase_jobs_page
-- $1 organisation or null, $2 the last id of the page before, $3 needles in lower case, $4 limit. The next jobs, and
-- whether anything that is stored of each holds a needle.
select j.id,
       exists (select from unnest($3::text[]) as u(needle)
               where strpos(lower(j.params::text collate "C"), u.needle) > 0)
         or exists (select from job_part p, unnest($3::text[]) as u(needle)
                    where p.job_id = j.id and strpos(lower(p.rows::text collate "C"), u.needle) > 0)
         or exists (select from job_chunk c, unnest($3::text[]) as u(needle)
                    where c.job_id = j.id and strpos(lower(c.done::text collate "C"), u.needle) > 0)
         or exists (select from finding f, unnest($3::text[]) as u(needle)
                    where f.investigation_id = j.id
                      and strpos(lower(json_build_array(f.subject, f.object, f.evidence, f.sources)::text collate "C"),
                                 u.needle) > 0)
from (select id, params from job where id > $2 and ($1::uuid is null or org_id = $1) order by id limit $4) j
order by j.id

-- name: erase_job_lock
select org_id, kind, part_rows, params from job where id = $1 for no key update

-- name: erase_seeds_read
-- Locked behind its job, as by who records.
select seeds from investigation where id = $1 for no key update

-- name: erase_findings_read
-- $1 investigation, $2 needles in lower case: its findings that hold one.
select f.seq, f.subject, f.object, f.evidence, f.sources
from finding f
where f.investigation_id = $1
  and exists (select from unnest($2::text[]) as u(needle)
              where strpos(lower(json_build_array(f.subject, f.object, f.evidence, f.sources)::text collate "C"),
                           u.needle) > 0)
order by f.seq

-- name: erase_seeds
update investigation set seeds = $2::json where id = $1

-- name: erase_findings
-- $1 investigation; then a row a finding.
update finding f set subject = u.subject, object = u.object, evidence = u.evidence, sources = u.sources
from unnest($2::bigint[], $3::json[], $4::json[], $5::text[], $6::json[])
  as u(seq, subject, object, evidence, sources)
where f.investigation_id = $1 and f.seq = u.seq

-- name: erase_job_parts_read
select block, part, rows from job_part where job_id = $1 order by block, part

-- name: erase_job_chunks_read
-- Locked in the order of their ids, as every statement that locks several chunks does.
select id, block, part, coalesce(done::text, 'null') from job_chunk where job_id = $1 order by id for update

-- name: erase_job_params
update job set params = $2::json where id = $1

-- name: erase_job_parts
update job_part p set rows = u.rows
from unnest($2::smallint[], $3::int[], $4::json[]) as u(block, part, rows)
where p.job_id = $1 and p.block = u.block and p.part = u.part

-- name: erase_job_chunks
-- The worker that holds such a chunk loses it, and with it what it knows of the person: it is claimed again as it is now.
update job_chunk c
set done = u.done, lease_token = null, available_at = case when c.lease_token is null then c.available_at else now() end,
    claims = greatest(c.claims - 1, 0), suspect = null
from unnest($1::uuid[], $2::json[]) as u(id, done)
where c.id = u.id

-- name: erase_job_rows_done
-- Rows that ended because they were erased.
update job_block b set rows_done = b.rows_done + u.rows, updated_at = now()
from unnest($2::smallint[], $3::int[]) as u(block, rows)
where b.job_id = $1 and b.block = u.block

-- name: erase_rows_page
-- Rows of monitors, as erase_jobs_page; their text where it holds a needle.
select r.monitor_id, r.id, case when exists (select from unnest($3::text[]) as u(needle)
                                            where strpos(lower(r.text collate "C"), u.needle) > 0) then r.text end
from (select monitor_id, id, json_build_array(subject, context, baseline, known, pending)::text as text
      from monitor_row where id > $2 and ($1::uuid is null or org_id = $1) order by id limit $4) r
order by r.id

-- name: suppressions_list
-- $1, $2 the last one of the page before, or null; $3 kind, $4 organisation; $5 limit
select id, kind, org_id, reason, created_at from suppression
where ($1::timestamptz is null or (created_at, id) < ($1::timestamptz, $2::uuid))
  and ($3::int is null or kind = $3)
  and ($4::uuid is null or org_id = $4)
order by created_at desc, id desc
limit $5
