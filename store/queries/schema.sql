-- name: schema_table_exists
select to_regclass('schema_migration') is not null

-- name: schema_version
select coalesce(max(version), 0) from schema_migration

-- name: database_clock
select clock_timestamp()

-- name: database_backend
-- The process that serves the session.
select pg_backend_pid()
