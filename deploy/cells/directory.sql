-- The directory of all cells at each cell, by PostgreSQL's logical replication: a star with the first cell in its middle.
-- Each server wants `wal_level = logical`. The role that reads is one of the publisher's:
--   create role vedette_cells login replication password '...'; grant select on cell_directory to vedette_cells;
-- What comes twice, or back, is passed over: the newer row counts (the trigger cell_directory_merge).

-- At every cell:
create publication vedette_cells for table cell_directory with (publish = 'insert, update');

-- At the first cell, for each other one:
create subscription vedette_cells_from_c2 connection 'host=db.c2.internal dbname=vedette user=vedette_cells'
  publication vedette_cells with (slot_name = vedette_cells_to_first);
create subscription vedette_cells_from_c3 connection 'host=db.c3.internal dbname=vedette user=vedette_cells'
  publication vedette_cells with (slot_name = vedette_cells_to_first);

-- At each other cell, here c2:
create subscription vedette_cells_from_first connection 'host=db.c1.internal dbname=vedette user=vedette_cells'
  publication vedette_cells with (slot_name = vedette_cells_to_c2);
