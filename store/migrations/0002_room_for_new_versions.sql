-- Room for the new version of a row beside the old one, in pages to come. A new version on the page of the old one needs
-- no new entries in indexes where no indexed column has changed, and no other page. Nothing is rewritten, nothing waits.

-- A check that changes a row writes a new version of it, with up to three index entries. When a version moves to another
-- page for want of room, the old page keeps the room; after a tick or two the next versions stay on their pages.
alter table monitor_row set (fillfactor = 70);
-- Every tick writes a schedule twice, when it is cut and when it is closed.
alter table monitor_sched set (fillfactor = 40);
