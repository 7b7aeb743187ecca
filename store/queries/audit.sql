-- name: audit_insert
insert into audit (id, actor, action, target, org_id, reason, detail, remote_address, principal_kind,
  principal_id, on_behalf_of)
values ($1, $2, $3, $4, $5, $6, $7::json, $8, $9, $10, $11)

-- name: audit_list
-- $1, $2 the place of the last entry of the page before; $3 limit; $4 organisation, $5 principal, $6 action, $7 actor, $8 target,
-- each or null
select id, at, actor, action, target, org_id, reason, detail, remote_address, principal_kind, principal_id, on_behalf_of
from audit
where ($1::timestamptz is null or (at, id) < ($1::timestamptz, $2::uuid))
  and ($4::uuid is null or org_id = $4) and ($5::uuid is null or principal_id = $5) and ($6::text is null or action = $6)
  and ($7::text is null or actor = $7) and ($8::text is null or target = $8)
order by at desc, id desc
limit $3
