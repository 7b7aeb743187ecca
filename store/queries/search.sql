-- Counting values of fields, and importing the documents that have them.
--
-- A filter is one parameter of type jsonpath, made by domain/search/jsonpath_writer.h: no statement here is ever put
-- together from a filter.

-- name: search_settings
-- For this transaction: $1 the time of a statement in ms, $2 whether it only reads ("on"). Plans are made for the filter
-- that is given, since the index serves some filters and not others.
select set_config('statement_timeout', $1, true), set_config('transaction_read_only', $2, true),
  set_config('plan_cache_mode', 'force_custom_plan', true)

-- fragment: search_counted
-- After "scoped", which has the values (an array) of every document that is counted. $1 values at most; $2: they are
-- numbers. A document counts once for each of its values: they are few, and what is told apart among them alone costs half
-- of telling them apart among the values of all documents.
counted as (
  select v.value, count(*) as documents
  from scoped s cross join lateral (
    select distinct (case when $2::boolean then trim_scale(e.value::numeric)::text else e.value end) collate "C" as value
    from jsonb_array_elements_text(s.found) e (value)) v
  group by v.value),
top as (
  select value, documents from counted order by documents desc, value collate "C" limit $1),
totals as (
  select count(*) as total, count(*) filter (where found <> '[]') as present,
    (select coalesce(sum(documents), 0) from counted) as counted
  from scoped)
select t.total, t.total - t.present, t.counted, top.value, top.documents
from totals t left join top on true
order by top.documents desc, top.value collate "C"

-- name: search_top_values
-- $3 mode, $4 the caller's organisation: of the shared documents and its own, those that $5 (jsonpath) selects and whose
-- ids are not among $7; $6 (jsonpath) gives a document's values.
with scoped as materialized (
  select jsonb_path_query_array(e.doc, $6::jsonpath) as found
  from search_entity e
  where e.import_id = any (array(
      select i.id from search_import i
      where i.mode = $3 and i.state = :import_current and (i.org_id is null or i.org_id = $4)))
    and e.doc @? $5::jsonpath and e.id <> all ($7::text[])),
:search_counted

-- name: search_scope_count
-- $1 mode, $2 the caller's organisation, $3 and $5 which documents, as search_top_values has it; $4 (jsonpath) gives a
-- document's values. How many there are, and how many have none.
select count(*), count(*) filter (where not e.doc @? $4::jsonpath)
from search_entity e
where e.import_id = any (array(
    select i.id from search_import i
    where i.mode = $1 and i.state = :import_current and (i.org_id is null or i.org_id = $2)))
  and e.doc @? $3::jsonpath and e.id <> all ($5::text[])

-- name: search_import_values
-- Of the import $3; $4 (jsonpath) gives a document's values.
with scoped as materialized (
  select jsonb_path_query_array(e.doc, $4::jsonpath) as found
  from search_entity e where e.import_id = $3),
:search_counted

-- name: search_top_read
-- What was counted of the field $3 with the catalogue $4, where mode $1 and organisation $2 have one import between them.
select t.total, t.missing, t.counted, t.top
from search_top t
where t.field = $3 and t.fields_hash = $4 and t.import_id = (
  select (array_agg(i.id))[1] from search_import i
  where i.mode = $1 and i.state = :import_current and (i.org_id is null or i.org_id = $2)
  having count(*) = 1)

-- name: search_import_open
-- $1 import, $2 mode, $3 organisation or null.
insert into search_import (id, mode, org_id) values ($1, $2, $3) on conflict (id) do nothing

-- name: search_import_lock
select i.mode, i.org_id, i.state, i.lines from search_import i where i.id = $1 for update

-- name: search_entity_put
-- $1 import, $2 ids, $3 documents; no id twice.
insert into search_entity (import_id, id, doc)
select $1, d.id, d.doc::jsonb from unnest($2::text[], $3::text[]) d (id, doc)
on conflict (import_id, id) do update set doc = excluded.doc

-- name: search_import_add
-- $1 import, $2 lines.
update search_import set lines = lines + $2, touched_at = now() where id = $1 returning lines

-- name: search_import_set
-- $1 import, $2 state.
update search_import set state = $2, touched_at = now() where id = $1

-- name: search_top_fields
-- The fields of import $1 that are counted with the catalogue $2.
select field from search_top where import_id = $1 and fields_hash = $2

-- name: search_top_put
insert into search_top (import_id, field, fields_hash, total, missing, counted, top)
values ($1, $2, $3, $4, $5, $6, $7)
on conflict (import_id, field) do update
set fields_hash = excluded.fields_hash, total = excluded.total, missing = excluded.missing, counted = excluded.counted,
    top = excluded.top

-- name: search_import_replace
-- The import that $1 takes the place of.
update search_import f set state = :import_former, touched_at = now()
from search_import i
where i.id = $1 and f.id <> i.id and f.mode = i.mode and f.org_id is not distinct from i.org_id
  and f.state = :import_current

-- name: search_import_switch
update search_import
set state = :import_current, touched_at = now(),
    documents = (select count(*) from search_entity e where e.import_id = $1)
where id = $1
returning documents

-- name: search_import_documents
select documents from search_import where id = $1

-- name: search_expire
-- Deletes documents of imports that nobody sees, at most @limit, once @kept_h have passed since the last change; then the
-- imports themselves.
with old as (
  select id from search_import
  where state in (:import_receiving, :import_counting, :import_former) and touched_at < now() - @kept_h * interval '1 hour'
  order by touched_at limit 1),
gone as (
  delete from search_entity
  where ctid = any (array(select e.ctid from search_entity e where e.import_id = (select id from old) limit @limit))
  returning 1),
ended as (
  delete from search_import
  where id = (select id from old)
    and not exists (select 1 from search_entity e where e.import_id = search_import.id)
  returning 1)
select (select count(*) from gone) + (select count(*) from ended)

-- fragment: search_exclusion_columns
x.id, x.name, x.mode, x.state, x.entities, x.created_at, x.updated_at

-- name: search_exclusion_count
-- Of the organisation $1, up to $2.
select count(*) from (select from search_exclusion where org_id = $1 limit $2) x

-- name: search_exclusion_insert
insert into search_exclusion as x (id, org_id, name, mode) values ($1, $2, $3, $4)
returning :search_exclusion_columns

-- name: search_exclusion_list
select :search_exclusion_columns from search_exclusion x where x.org_id = $1 order by x.id desc

-- name: search_exclusion_get
select :search_exclusion_columns from search_exclusion x where x.org_id = $1 and x.id = $2

-- name: search_exclusion_lock
select :search_exclusion_columns from search_exclusion x where x.org_id = $1 and x.id = $2 for update

-- name: search_exclusion_new
-- How many of the ids $2 the list $1 does not have yet.
select count(distinct u.id) from unnest($2::text[]) u (id)
where not exists (select from search_exclusion_entity e where e.list_id = $1 and e.entity_id = u.id)

-- name: search_exclusion_entities_add
insert into search_exclusion_entity (list_id, entity_id)
select $1, u.id from unnest($2::text[]) u (id)
on conflict do nothing

-- name: search_exclusion_set
update search_exclusion x set entities = $2, state = $3, updated_at = now() where x.id = $1
returning :search_exclusion_columns

-- name: search_exclusion_delete
delete from search_exclusion where org_id = $1 and id = $2 returning id

-- name: search_exclusion_entities
-- What the lists $2 of the organisation $1 name.
select distinct e.entity_id from search_exclusion x join search_exclusion_entity e on e.list_id = x.id
where x.org_id = $1 and x.id = any ($2::uuid[])
