-- A row that was switched on at the moment of its removal was checked and charged ever after, and nobody could switch it
-- off. Those that are so are off from here on. Only monitors with removed rows are looked at.
with mended as (
  update monitor_row r
  set is_active = false, disabled_reason = 'removed'
  from monitor_sched s
  where s.removed_row_count > 0 and r.monitor_id = s.monitor_id and r.removed_at is not null and r.is_active
  returning r.monitor_id
)
update monitor_sched s
set active_row_count = s.active_row_count - m.rows
from (select monitor_id, count(*) as rows from mended group by monitor_id) m
where s.monitor_id = m.monitor_id;
