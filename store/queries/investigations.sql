-- What investigations find.

-- name: investigation_insert
insert into investigation (id, org_id, seeds, depth, findings_max, credits_mc_max, subjects_max, subjects)
values (@id, @org_id, @seeds, @depth, @findings_max, @credits_mc_max, @subjects_max, @subjects)

-- name: investigation_lock
-- The lock makes the numbers of findings follow the order of commits.
select seeds, depth, findings_max, subjects_max, subjects, next_seq, budget_reached
from investigation where id = @id for no key update

-- name: investigation_save
update investigation set subjects = @subjects, next_seq = @next_seq, budget_reached = @budget_reached where id = @job_id

-- name: findings_known
-- Those of the ids @ids that are findings already, and whether the part (@block, @part) found them first.
select id, block = @block and part = @part as is_own from finding where investigation_id = @investigation_id
  and id = any(@ids::uuid[])

-- name: finding_insert
-- @investigation_id investigation; then a row a finding, with its number.
insert into finding (investigation_id, org_id, seq, id, kind, subject, predicate, object, confidence, evidence, sources,
                     provider, derived_from, block, part)
select @investigation_id, i.org_id, f.seq, f.id, f.kind, f.subject, f.predicate, f.object, f.confidence, f.evidence,
  f.sources,
  f.provider, f.derived_from::uuid[], f.block, f.part
from investigation i,
  unnest(@seq::bigint[], @id::uuid[], @kind::smallint[], @subject::json[], @predicate::text[], @object::json[],
    @confidence::double precision[],
         @evidence::text[], @sources::json[], @provider::text[], @derived_from::text[], @block::smallint[],
           @part::int[])
    f (seq, id, kind, subject, predicate, object, confidence, evidence, sources, provider, derived_from, block, part)
where i.id = @investigation_id

-- name: investigation_get
select i.seeds, i.depth, i.findings_max, i.credits_mc_max, i.next_seq - 1 as findings, i.budget_reached, b.examined,
  b.failed, j.name
from investigation i join job j on j.id = i.id
cross join lateral (
  select coalesce(sum(rows_done), 0)::bigint as examined, coalesce(sum(row_errors), 0)::bigint as failed
  from job_block where job_id = i.id) b
where i.id = @id and (@org_id::uuid is null or j.org_id = @org_id) and (@team_id::uuid is null or j.team_id = @team_id)

-- name: findings_page
-- The findings of the investigation @investigation_id after the number @after, at most @limit.
select seq, id, kind, subject, predicate, object, confidence, evidence, sources, provider, derived_from, created_at
from finding
where investigation_id = @investigation_id and seq > @after
order by seq
limit @limit
