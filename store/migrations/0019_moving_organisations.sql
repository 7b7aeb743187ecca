-- Moving an organisation to another cell (docs/decisions/0077-moving-an-organisation.md). Processes of the version before
-- see an organisation that moves as a locked one.

alter table organisation
  -- While it is locked for the end of its move: until when that should take. Its requests that read are answered.
  add column moving_until timestamptz,
  -- The cell where it lives, where that is another one than this; null: here.
  add column lives_at text;

-- How far the move of an organisation is, in the databases of both cells. The row stays as the record of the last one.
create table org_move (
  org_id uuid primary key,
  side smallint not null check (side between 0 and 1),    -- store/move/org_move.h
  state smallint not null check (state between 0 and 5),  -- store/move/org_move.h
  other_cell text not null,                               -- the one to which it goes, or from which it comes
  other_database text not null,                           -- what tells that cell's database from others
  was_locked boolean not null default false,              -- by the operator, before the move
  offsets json not null default '{}',                     -- {table: what is added to its numbers at the new side}
  started_at timestamptz not null default now(),
  changed_at timestamptz not null default now()
);

-- What was copied of it before it was locked, in the new cell's database.
create table org_move_copy (
  org_id uuid not null,
  name text not null,        -- a group of tables
  since bigint not null,     -- the first transaction of the old side whose changes may be missing
  timeline text not null,    -- of the old side's WAL: on another one, transactions may have been undone
  rows bigint not null,
  copied_at timestamptz not null default now(),
  primary key (org_id, name)
);
