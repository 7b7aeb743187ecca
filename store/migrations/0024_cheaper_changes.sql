-- What a check that changes something writes costs less to look at: its event, its delivery and its row. Nothing is
-- written in another way, and the same is allowed and refused.

-- One check of each table in place of three, seven and two, as 0023 has them for what every check writes. Rows that are there
-- have passed them.
alter table event
  drop constraint event_check,
  drop constraint event_check1,
  drop constraint event_event_type_check,
  add constraint event_is_whole check (
    event_type between 0 and 1
    and (event_type = 0) = (field is not null)
    and (event_type = 1) = (message is not null)
  ) not valid;

alter table delivery
  drop constraint delivery_attempts_check,
  drop constraint delivery_check,
  drop constraint delivery_job_status,
  drop constraint delivery_row,
  drop constraint delivery_state_check,
  drop constraint delivery_subject,
  drop constraint delivery_type_check,
  add constraint delivery_is_whole check (
    type between 0 and 15
    and state in (0, 1, 3, 4) and (channel_id is null) = (state < 3)
    and attempts >= 0 and replayed_attempts <= attempts
    and (job_id is null) = (monitor_id is not null)
    and (monitor_id is null) = (row_id is null)
    and (job_id is null) = (job_status is null)
  ) not valid;

alter table monitor_row
  drop constraint monitor_row_key_hash_check,
  drop constraint monitor_row_position_check,
  add constraint monitor_row_is_whole check (position >= 0 and length(key_hash) = 16) not valid;
