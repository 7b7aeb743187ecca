-- What investigations find.

-- name: investigation_insert
insert into investigation (id, org_id, seeds, depth, findings_max, credits_mc_max, subjects_max, subjects)
values ($1, $2, $3, $4, $5, $6, $7, $8)

-- name: investigation_lock
-- The lock makes the numbers of findings follow the order of commits.
select seeds, depth, findings_max, subjects_max, subjects, next_seq, budget_reached
from investigation where id = $1 for no key update

-- name: investigation_save
update investigation set subjects = $2, next_seq = $3, budget_reached = $4 where id = $1

-- name: findings_known
-- Of the ids $2 those that are findings already, and whether the part ($3, $4) found them first.
select id, block = $3 and part = $4 from finding where investigation_id = $1 and id = any($2::uuid[])

-- name: finding_insert
-- $1 investigation; then a row a finding, with its number.
insert into finding (investigation_id, org_id, seq, id, kind, subject, predicate, object, confidence, evidence, sources,
                     provider, derived_from, block, part)
select $1, i.org_id, f.seq, f.id, f.kind, f.subject, f.predicate, f.object, f.confidence, f.evidence, f.sources,
  f.provider, f.derived_from::uuid[], f.block, f.part
from investigation i,
  unnest($2::bigint[], $3::uuid[], $4::smallint[], $5::json[], $6::text[], $7::json[], $8::double precision[],
         $9::text[], $10::json[], $11::text[], $12::text[], $13::smallint[], $14::int[])
    f (seq, id, kind, subject, predicate, object, confidence, evidence, sources, provider, derived_from, block, part)
where i.id = $1

-- name: investigation_get
select i.seeds, i.depth, i.findings_max, i.credits_mc_max, i.next_seq - 1, i.budget_reached, b.examined, b.failed, j.name
from investigation i join job j on j.id = i.id
cross join lateral (
  select coalesce(sum(rows_done), 0)::bigint as examined, coalesce(sum(row_errors), 0)::bigint as failed
  from job_block where job_id = i.id) b
where i.id = $1 and ($2::uuid is null or j.org_id = $2) and ($3::uuid is null or j.team_id = $3)

-- name: findings_page
-- Of the investigation $1 those after the number $2, at most $3.
select seq, id, kind, subject, predicate, object, confidence, evidence, sources, provider, derived_from, created_at
from finding
where investigation_id = $1 and seq > $2
order by seq
limit $3
