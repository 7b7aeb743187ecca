-- name: idempotency_lock
select pg_try_advisory_xact_lock($1::bigint)

-- name: idempotency_expire
delete from idempotency_key
where org_id = $1 and key = $2 and created_at < now() - make_interval(hours => $3::int)

-- name: idempotency_get
select body_sha256, monitor_id, answer, row_count, job_id, workflow_id from idempotency_key
where org_id = $1 and key = $2 and created_at >= now() - make_interval(hours => $3::int)

-- name: idempotency_insert
insert into idempotency_key (org_id, key, body_sha256, monitor_id, answer, row_count, job_id, workflow_id)
values ($1, $2, $3, $4, $5::json, $6, $7, $8)
