-- Monitors that are due at one instant, as those of nine in the morning are, are cut by organisation and in the order of
-- their ids: a chunk holds many of one organisation, and a scan beside a snapshot that is held for long can begin between
-- them. Without the two they came in the order of the table, which after some weeks is none.
create index monitor_sched_due_in_order on monitor_sched (next_run_at, org_id, monitor_id) where live;
drop index monitor_sched_due;
alter index monitor_sched_due_in_order rename to monitor_sched_due;

-- A cut writes an entry into each index. Into a unique one only after a look at all versions of the row that a snapshot
-- still holds, which was most of a cut beside one. A monitor has one schedule all the same: it is inserted in the
-- transaction that inserts its monitor, whose key is unique.
alter table monitor_sched drop constraint monitor_sched_pkey;
create index monitor_sched_monitor on monitor_sched (monitor_id);
