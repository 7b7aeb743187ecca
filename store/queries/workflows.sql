-- fragment: workflow_columns
-- The columns of a workflow w.
w.id, w.org_id, w.name, w.description, w.caller_kind, w.caller_id, w.on_behalf_of, w.created_at, w.updated_at,
  (select j.created_at from job j where j.workflow_id = w.id and j.kind = :kind_workflow
   order by j.created_at desc, j.id desc limit 1) as last_run_at

-- name: workflow_count
-- Up to @per_org_max.
select count(*) from (select from workflow where org_id = @org_id and deleted_at is null limit @per_org_max) w

-- name: workflow_insert
insert into workflow (id, org_id, name, description, definition, caller_kind, caller_id, on_behalf_of)
values (@id, @org_id, @name, @description, @definition::json, @caller_kind, @caller_id, @on_behalf_of)
on conflict (id) do nothing
returning id

-- name: workflow_get
-- @deleted_too: a deleted one, too.
select :workflow_columns, w.definition from workflow w
where w.id = @id and w.org_id = @org_id and (@deleted_too or w.deleted_at is null)

-- name: workflow_to_run
-- What a run needs: when the workflow ran last would cost more than all of it.
select id, name, definition from workflow where id = @id and org_id = @org_id and deleted_at is null

-- name: workflow_list
-- @org_id organisation; @after_at, @after time and id of the last one of the page before, null before the first; @limit
-- limit; @bytes_max bytes of the page, which ends with the one with which it has them
select :workflow_columns, w.bytes_until from (
  select w.*, sum(w.bytes) over (order by w.created_at desc, w.id desc rows unbounded preceding) as bytes_until
  from (
    select *, octet_length(name) + octet_length(description) as bytes from workflow
    where org_id = @org_id and deleted_at is null
      and (created_at, id) < (coalesce(@after_at::timestamptz, 'infinity'),
                              coalesce(@after::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff'))
    order by created_at desc, id desc
    limit @limit
  ) w
) w
where w.bytes_until - w.bytes < @bytes_max
order by w.created_at desc, w.id desc

-- name: workflow_update
update workflow
set name = coalesce(@name, name), description = coalesce(@description, description),
    definition = coalesce(@definition_json::json, definition), updated_at = greatest(now(), updated_at)
where id = @id and org_id = @org_id and deleted_at is null
returning id

-- name: workflow_delete
update workflow set deleted_at = now(), updated_at = greatest(now(), updated_at)
where id = @id and org_id = @org_id and deleted_at is null
returning id

-- name: template_get
select id, document, created_at, updated_at from workflow_template where org_id = @org_id and id = @id

-- name: template_list
-- @org_id organisation; @after the last id of the page before; @category category, @tag tag; @limit limit
select id, document, created_at, updated_at from workflow_template t
where org_id = @org_id and id > @after
  and not (document ->> 'internal')::boolean
  and (@category::text is null or document ->> 'category' = @category)
  and (@tag::text is null
       or exists (select from json_array_elements_text(t.document -> 'tags') as g(tag) where g.tag = @tag))
order by id
limit @limit

-- name: template_count
-- Up to @per_org_max.
select count(*) from (select from workflow_template where org_id = @org_id limit @per_org_max) t

-- name: template_insert
insert into workflow_template (id, org_id, slug, document) values (@id, @org_id, @slug, @document::json)
on conflict (org_id, slug) do nothing
returning id

-- name: template_delete
delete from workflow_template where org_id = @org_id and id = @id
returning id
