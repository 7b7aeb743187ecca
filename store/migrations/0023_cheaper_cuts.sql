-- Every new version of a schedule, and every tick that ends, costs less to look at: two of the three rows that a check of
-- a small monitor writes. Nothing is written in another way, and the same is allowed and refused.

-- One check of each table in place of twelve and of five: each was taken up by every statement, and called for every
-- row. Rows that are there have passed them.
alter table monitor_sched
  drop constraint monitor_sched_check,
  drop constraint monitor_sched_check1,
  drop constraint monitor_sched_check2,
  drop constraint monitor_sched_check3,
  drop constraint monitor_sched_check4,
  drop constraint monitor_sched_check5,
  drop constraint monitor_sched_check6,
  drop constraint monitor_sched_check7,
  drop constraint monitor_sched_check8,
  drop constraint monitor_sched_frequency_s_check,
  drop constraint monitor_sched_removed_row_count_check,
  drop constraint monitor_sched_row_count_check,
  -- Each update read the version before once more, to see that the monitor's id is still that one, which no statement
  -- changes. A schedule is made and deleted in the statement's transaction that makes and deletes its monitor.
  drop constraint monitor_sched_monitor_id_fkey,
  add constraint monitor_sched_is_whole check (
    num_nulls(open_tick_id, open_due_at, open_started_at, open_slots, open_rows, open_trigger) in (0, 6)
    and (not open_large or open_tick_id is not null)
    and (portion_at is null) = (portion_position is null)
    and (portion_at is null or open_large)
    and frequency_s > 0 and row_count >= 0 and active_row_count between 0 and row_count and removed_row_count >= 0
  ) not valid;

alter table tick
  drop constraint tick_check,
  drop constraint tick_check1,
  drop constraint tick_row_count_check,
  drop constraint tick_slots_check,
  drop constraint tick_trigger_check,
  add constraint tick_is_whole check (
    trigger between 0 and 1 and slots >= 0 and row_count >= 0
    and (finished_at is null or (outcomes is null) <> (counts is null))
    and (outcomes is null or length(outcomes) = row_count)
  ) not valid;
