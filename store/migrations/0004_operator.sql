-- What each member has counted since it started: the overview's rates over the fleet.
alter table member add column counters json not null default '{}';

-- Bookings, which are few beside charges: an organisation's `charged` is their sum less what is left.
create index credit_entry_booked on credit_entry (org_id) include (amount_mc) where checks is null;
