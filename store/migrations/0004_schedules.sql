-- Schedules by the clock.

-- {"cron", "time_zone", "spread_s", "longest_s"}: when the monitor is due by the clock of a place, where it is not by its
-- frequency (domain/monitor/timetable.h). frequency_s is then the shortest distance of its slots.
alter table monitor_sched add column schedule json;
