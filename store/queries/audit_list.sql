-- name: audit_list
-- $1, $2 the place of the last entry of the page before; $3 limit
select id, at, actor, action, target, org_id, reason, detail, remote_address
from audit
where $1::timestamptz is null or (at, id) < ($1::timestamptz, $2::uuid)
order by at desc, id desc
limit $3
