-- Workflows are listed newest first, also where clients have chosen their ids. Processes of the version before find an
-- organisation's workflows by the new index, too.
create index workflow_newest on workflow (org_id, created_at desc, id desc) where deleted_at is null;
drop index workflow_org;
