-- fragment: workflow_columns
-- Of a workflow w.
w.id, w.org_id, w.name, w.description, w.caller_kind, w.caller_id, w.on_behalf_of, w.created_at, w.updated_at,
  (select j.created_at from job j where j.workflow_id = w.id and j.kind = :kind_workflow
   order by j.created_at desc, j.id desc limit 1)

-- name: workflow_count
-- Up to $2.
select count(*) from (select from workflow where org_id = $1 and deleted_at is null limit $2) w

-- name: workflow_insert
insert into workflow (id, org_id, name, description, definition, caller_kind, caller_id, on_behalf_of)
values ($1, $2, $3, $4, $5::json, $6, $7, $8)
on conflict (id) do nothing
returning id

-- name: workflow_get
-- $3: a deleted one, too.
select :workflow_columns, w.definition from workflow w
where w.id = $1 and w.org_id = $2 and ($3 or w.deleted_at is null)

-- name: workflow_to_run
-- What a run needs: when the workflow ran last would cost more than all of it.
select id, name, definition from workflow where id = $1 and org_id = $2 and deleted_at is null

-- name: workflow_list
-- $1 organisation; $2, $3 time and id of the last one of the page before, null before the first; $4 limit; $5 bytes of
-- the page, which ends with the one with which it has them
select :workflow_columns, w.bytes_until from (
  select w.*, sum(w.bytes) over (order by w.created_at desc, w.id desc rows unbounded preceding) as bytes_until
  from (
    select *, octet_length(name) + octet_length(description) as bytes from workflow
    where org_id = $1 and deleted_at is null
      and (created_at, id) < (coalesce($2::timestamptz, 'infinity'),
                              coalesce($3::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff'))
    order by created_at desc, id desc
    limit $4
  ) w
) w
where w.bytes_until - w.bytes < $5
order by w.created_at desc, w.id desc

-- name: workflow_update
update workflow
set name = coalesce($3, name), description = coalesce($4, description),
    definition = coalesce($5::json, definition), updated_at = greatest(now(), updated_at)
where id = $1 and org_id = $2 and deleted_at is null
returning id

-- name: workflow_delete
update workflow set deleted_at = now(), updated_at = greatest(now(), updated_at)
where id = $1 and org_id = $2 and deleted_at is null
returning id

-- name: template_get
select id, document, created_at, updated_at from workflow_template where org_id = $1 and id = $2

-- name: template_list
-- $1 organisation; $2 the last id of the page before; $3 category, $4 tag; $5 limit
select id, document, created_at, updated_at from workflow_template t
where org_id = $1 and id > $2
  and not (document ->> 'internal')::boolean
  and ($3::text is null or document ->> 'category' = $3)
  and ($4::text is null
       or exists (select from json_array_elements_text(t.document -> 'tags') as g(tag) where g.tag = $4))
order by id
limit $5

-- name: template_count
-- Up to $2.
select count(*) from (select from workflow_template where org_id = $1 limit $2) t

-- name: template_insert
insert into workflow_template (id, org_id, slug, document) values ($1, $2, $3, $4::json)
on conflict (org_id, slug) do nothing
returning id

-- name: template_delete
delete from workflow_template where org_id = $1 and id = $2
returning id
