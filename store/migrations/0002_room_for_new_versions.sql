-- Room for the new version of a row beside the old one, in pages to come. A new version on the page of the old one needs
-- no new entries in indexes where no indexed column has changed, and no other page. Nothing is rewritten, nothing waits.

-- A row whose check changes is written anew with up to three entries in indexes. Pages from which rows move for want of
-- room keep it, so that those of monitors that change much find it after a tick or two.
alter table monitor_row set (fillfactor = 70);
-- Every tick writes a schedule twice, when it is cut and when it is closed.
alter table monitor_sched set (fillfactor = 40);
