-- Which providers of lookups fail in a process, for the operator: [{"id", "failures", "left_out"}]. Nullable and new, so that
-- processes of the version before go on writing their heartbeats without it.
alter table member add column providers json;
