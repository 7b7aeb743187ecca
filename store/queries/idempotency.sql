-- name: idempotency_lock
select pg_try_advisory_xact_lock(@lock_number::bigint)

-- name: idempotency_expire
delete from idempotency_key
where org_id = @org_id and key = @key and created_at < now() - make_interval(hours => @kept_h::int)

-- name: idempotency_get
select body_sha256, monitor_id, answer, row_count, job_id, workflow_id from idempotency_key
where org_id = @org_id and key = @key and created_at >= now() - make_interval(hours => @kept_h::int)

-- name: idempotency_insert
insert into idempotency_key (org_id, key, body_sha256, monitor_id, answer, row_count, job_id, workflow_id)
values (@org_id, @key, @body_sha256, @monitor_id, @answer::json, @row_count, @job_id, @workflow_id)
