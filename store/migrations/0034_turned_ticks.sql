-- The tick at whose end a monitor last began to fail, or worked again; null if it never did. The statements that close
-- ticks tell by it whose state turned, without reading every row twice.
alter table monitor_sched add column turned_tick_id bigint;
