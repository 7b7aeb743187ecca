-- When a key was last used, to the hour, and teams that are deleted: what refers to them stays. Additive: processes of the version before
-- write no such time, and go on showing a deleted team.
alter table api_key add column last_used_at timestamptz;
alter table team add column deleted_at timestamptz;
