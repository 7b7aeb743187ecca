-- Every cut moves next_run_at, which writes a new entry into each index of the row: this one is not worth it. A lock of
-- an organisation finds its monitors by monitor_org.
drop index monitor_sched_org;
