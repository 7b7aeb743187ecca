-- name: audit_insert
insert into audit (id, actor, action, target, org_id, reason, detail, remote_address, principal_kind,
  principal_id, on_behalf_of)
values ($1, $2, $3, $4, $5, $6, $7::json, $8, $9, $10, $11)
