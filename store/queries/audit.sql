-- name: audit_insert
insert into audit (id, actor, action, target, org_id, reason, detail, remote_address)
values ($1, $2, $3, $4, $5, $6, $7::json, $8)
