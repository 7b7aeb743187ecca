-- Which cell an organisation lives at (docs/decisions/0076-cells.md). Each cell has the directory of all of them: it
-- writes the rows of its own organisations, and PostgreSQL's logical replication brings the others' (deploy/cells).
-- Processes of the version before neither read nor write it; a process of this one enters what they have made when it
-- starts.
create table cell_directory (
  org_id uuid primary key,
  cell text not null,
  changed_at timestamptz not null default now()
);

-- What replication brings is taken where it is newer than what is there. So it may come twice and by any way, and two
-- servers that tell each other everything come to an end.
-- A replication worker has no search path of its own.
create function cell_directory_merge() returns trigger language plpgsql set search_path from current as $$
declare
  known timestamptz;
begin
  if tg_op = 'UPDATE' then
    if new.changed_at > old.changed_at then
      return new;
    end if;
    return null;
  end if;
  select d.changed_at into known from cell_directory d where d.org_id = new.org_id;
  if known is null then
    return new;
  end if;
  if new.changed_at > known then
    update cell_directory d set cell = new.cell, changed_at = new.changed_at where d.org_id = new.org_id;
  end if;
  return null;
end $$;
create trigger cell_directory_merge before insert or update on cell_directory
for each row execute function cell_directory_merge();
-- Only for what comes by replication.
alter table cell_directory enable replica trigger cell_directory_merge;

-- Whose a key was that went with its organisation to another cell: its holder is told which.
create table moved_key (
  key_sha256 bytea primary key,
  org_id uuid not null
);
create function moved_key_keep() returns trigger language plpgsql as $$
begin
  insert into moved_key (key_sha256, org_id) values (old.key_sha256, old.org_id) on conflict do nothing;
  return null;
end $$;
-- A key is revoked and stays; what deletes it is a move.
create trigger moved_key_keep after delete on api_key for each row execute function moved_key_keep();
