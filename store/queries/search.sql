-- Counting values of fields, and importing the documents that have them.
--
-- A filter is one parameter of type jsonpath, made by domain/search/jsonpath_writer.h: no statement here is ever put
-- together from a filter.

-- name: search_settings
-- For this transaction: @timeout_ms the time of a statement in ms, @only_reads whether it only reads ("on"). Plans are
-- made for the filter that is given, since the index serves some filters and not others.
select set_config('statement_timeout', @timeout_ms, true), set_config('transaction_read_only', @only_reads, true),
  set_config('plan_cache_mode', 'force_custom_plan', true)

-- fragment: search_counted
-- After "scoped", which has the values (an array) of every document that is counted. @values_max values at most; @type:
-- they are numbers. A document counts once for each of its values: they are few, and what is told apart among them
-- alone costs half of telling them apart among the values of all documents.
counted as (
  select v.value, count(*) as documents
  from scoped s cross join lateral (
    select distinct (case when @type::boolean then trim_scale(e.value::numeric)::text
                          else e.value end) collate "C" as value
    from jsonb_array_elements_text(s.found) e (value)) v
  group by v.value),
top as (
  select value, documents from counted order by documents desc, value collate "C" limit @values_max),
totals as (
  select count(*) as total, count(*) filter (where found <> '[]') as present,
    (select coalesce(sum(documents), 0) from counted) as counted
  from scoped)
select t.total, t.total - t.present as missing, t.counted, top.value, top.documents
from totals t left join top on true
order by top.documents desc, top.value collate "C"

-- name: search_top_values
-- @mode mode, @org_id the caller's organisation: of the shared documents and its own, those that @filter (jsonpath)
-- selects and whose ids are not among @excluded_ids; @field (jsonpath) gives a document's values.
with scoped as materialized (
  select jsonb_path_query_array(e.doc, @field::jsonpath) as found
  from search_entity e
  where e.import_id = any (array(
      select i.id from search_import i
      where i.mode = @mode and i.state = :import_current and (i.org_id is null or i.org_id = @org_id)))
    and e.doc @? @filter::jsonpath and e.id <> all (@excluded_ids::text[])),
:search_counted

-- name: search_scope_count
-- @mode mode, @org_id the caller's organisation, @filter and @excluded_ids which documents, as search_top_values has
-- it; @field (jsonpath) gives a document's values. How many there are, and how many have none.
select count(*) as total, count(*) filter (where not e.doc @? @field::jsonpath) as missing
from search_entity e
where e.import_id = any (array(
    select i.id from search_import i
    where i.mode = @mode and i.state = :import_current and (i.org_id is null or i.org_id = @org_id)))
  and e.doc @? @filter::jsonpath and e.id <> all (@excluded_ids::text[])

-- name: search_import_values
-- The values in the import @import_id; @field (jsonpath) gives a document's values.
with scoped as materialized (
  select jsonb_path_query_array(e.doc, @field::jsonpath) as found
  from search_entity e where e.import_id = @import_id),
:search_counted

-- name: search_top_read
-- What was counted of the field @name with the catalogue @hash, where mode @mode and organisation @org_id have one
-- import between them.
select t.total, t.missing, t.counted, t.top
from search_top t
where t.field = @name and t.fields_hash = @hash and t.import_id = (
  select (array_agg(i.id))[1] from search_import i
  where i.mode = @mode and i.state = :import_current and (i.org_id is null or i.org_id = @org_id)
  having count(*) = 1)

-- name: search_import_open
-- @id import, @mode mode, @org_id organisation or null.
insert into search_import (id, mode, org_id) values (@id, @mode, @org_id) on conflict (id) do nothing

-- name: search_import_lock
select i.mode, i.org_id, i.state, i.lines from search_import i where i.id = @import_id for update

-- name: search_entity_put
-- @import_id import, @id ids, @doc documents; no id twice.
insert into search_entity (import_id, id, doc)
select @import_id, d.id, d.doc::jsonb from unnest(@id::text[], @doc::text[]) d (id, doc)
on conflict (import_id, id) do update set doc = excluded.doc

-- name: search_import_add
-- @import_id import, @lines lines.
update search_import set lines = lines + @lines, touched_at = now() where id = @import_id returning lines

-- name: search_import_set
-- @import_id import, @state state.
update search_import set state = @state, touched_at = now() where id = @import_id

-- name: search_top_fields
-- The fields of import @import_id that are counted with the catalogue @hash.
select field from search_top where import_id = @import_id and fields_hash = @hash

-- name: search_top_put
insert into search_top (import_id, field, fields_hash, total, missing, counted, top)
values (@import_id, @field, @fields_hash, @total, @missing, @counted, @top)
on conflict (import_id, field) do update
set fields_hash = excluded.fields_hash, total = excluded.total, missing = excluded.missing, counted = excluded.counted,
    top = excluded.top

-- name: search_import_turn
-- Imports of a mode and an organisation become current one at a time: each sees the one that it takes the place of.
select pg_advisory_xact_lock(hashtextextended('search_import ' || i.mode || ' ' || coalesce(i.org_id::text, ''), 0))
from search_import i where i.id = @import_id

-- name: search_import_replace
-- The import that @import_id takes the place of.
update search_import f set state = :import_former, touched_at = now()
from search_import i
where i.id = @import_id and f.id <> i.id and f.mode = i.mode and f.org_id is not distinct from i.org_id
  and f.state = :import_current

-- name: search_import_switch
update search_import
set state = :import_current, touched_at = now(),
    documents = (select count(*) from search_entity e where e.import_id = @import_id)
where id = @import_id
returning documents

-- name: search_import_documents
select documents from search_import where id = @import_id

-- name: search_expire
-- Deletes documents of imports that nobody sees, at most @limit, once @kept_h have passed since the last change; then the
-- imports themselves. From the first document on no batch continues the import, which would lack what is gone.
with old as (
  select id, exists (select 1 from search_entity e where e.import_id = search_import.id) as is_left
  from search_import
  where state in (:import_receiving, :import_counting, :import_former) and touched_at < now() - @kept_h * interval '1 hour'
    and (org_id is null or org_id not in :arriving)
  order by touched_at limit 1 for update skip locked),
closed as (
  update search_import set state = :import_former
  where id = (select id from old where is_left) and state <> :import_former),
gone as (
  delete from search_entity
  where ctid = any (array(select e.ctid from search_entity e where e.import_id = (select id from old) limit @limit))
  returning 1),
ended as (
  delete from search_import
  where id = (select id from old where not is_left)
  returning 1)
select (select count(*) from gone) + (select count(*) from ended)

-- fragment: search_exclusion_columns
x.id, x.name, x.mode, x.state, x.entities, x.created_at, x.updated_at

-- name: search_exclusion_count
-- The lists of the organisation @org_id, up to @limit.
select count(*) from (select from search_exclusion where org_id = @org_id limit @limit) x

-- name: search_exclusion_insert
insert into search_exclusion as x (id, org_id, name, mode) values (@id, @org_id, @name, @mode)
returning :search_exclusion_columns

-- name: search_exclusion_list
select :search_exclusion_columns from search_exclusion x where x.org_id = @org_id order by x.id desc

-- name: search_exclusion_get
select :search_exclusion_columns from search_exclusion x where x.org_id = @org_id and x.id = @id

-- name: search_exclusion_lock
select :search_exclusion_columns from search_exclusion x where x.org_id = @org_id and x.id = @id for update

-- name: search_exclusion_new
-- How many of the ids @id the list @list_id does not have yet.
select count(distinct u.id) from unnest(@id::text[]) u (id)
where not exists (select from search_exclusion_entity e where e.list_id = @list_id and e.entity_id = u.id)

-- name: search_exclusion_entities_add
insert into search_exclusion_entity (list_id, entity_id)
select @list_id, u.id from unnest(@id::text[]) u (id)
on conflict do nothing

-- name: search_exclusion_set
update search_exclusion x set entities = @entities, state = @state, updated_at = now() where x.id = @id
returning :search_exclusion_columns

-- name: search_exclusion_delete
delete from search_exclusion where org_id = @org_id and id = @id returning id

-- name: search_exclusion_entities
-- What the lists @lists of the organisation @org_id name.
select distinct e.entity_id from search_exclusion x join search_exclusion_entity e on e.list_id = x.id
where x.org_id = @org_id and x.id = any (@lists::uuid[])
