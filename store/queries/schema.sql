-- name: schema_table_exists
select to_regclass('schema_migration') is not null

-- name: schema_version
-- The highest migration that was applied, and whether the schema is of a version before the first release, which had this
-- one beside others.
select coalesce(max(version), 0) as version, coalesce(bool_or(name = '0002_monitor_shown.sql'), false) as is_unreleased
from schema_migration

-- name: database_takes_no_changes
-- True of a standby, and where a setting of the server, the database or the role has made it so.
select current_setting('transaction_read_only')::boolean

-- name: database_clock
select clock_timestamp()

-- name: database_identity
-- What tells one database from another; a standby and a restored copy have that of their original.
select system_identifier || ' ' || oid from pg_control_system(), pg_database where datname = current_database()

-- name: database_backend
-- The process that serves the session.
select pg_backend_pid()
