-- upload_id: the uploaded file that the source of a workflow names, and the one that a schedule gives its runs in its place. A
-- schedule keeps its file beyond its time, and to look for it in definitions took the length of all of them for each file.
-- The source stands first in a definition. It is found in the text, as JSON may hold strings that the database cannot.
create function upload_named(document json) returns uuid language sql immutable parallel safe as $$
  select substring(document::text
                   from '"resource_handle_id" *: *"([0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12})"')::uuid;
$$;

alter table workflow_schedule add column upload_id uuid generated always as (upload_named(specs_override)) stored;
create index workflow_schedule_upload on workflow_schedule (upload_id) where upload_id is not null;

-- Not generated: that would write all definitions again, while nobody reads one.
alter table workflow add column upload_id uuid;
create function workflow_upload_set() returns trigger language plpgsql set search_path from current as $$
begin
  new.upload_id := upload_named(new.definition);
  return new;
end
$$;
create trigger workflow_upload_set before insert or update of definition on workflow
  for each row execute function workflow_upload_set();
create index workflow_upload on workflow (upload_id) where upload_id is not null;
update workflow set upload_id = upload_named(definition) where upload_named(definition) is not null;
