-- Monitors that wait for their rows are few among many. Additive: binaries before it do not know it.
create index monitor_starting on monitor (id) where status = 0;
