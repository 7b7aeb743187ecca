-- A channel that a team's key makes is the team's: it shows what the team's monitors see, by its feed or at its address.
-- Null is the organisation's, as all are that were made before.
alter table channel add column team_id uuid references team;
