-- Whether a large tick has chunks is asked of those of its time on: beside a snapshot that is held for long the entries of
-- all that the monitor had meanwhile are still there.
create index chunk_tick on chunk (monitor_id, due_at) where monitor_id is not null;
drop index chunk_monitor;
