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
-- After "scoped", which has the values (an array) of every document that is counted, by its number. $1 values at most.
held as (
  select distinct s.number, v.value
  from scoped s cross join lateral jsonb_array_elements(s.found) v (value)),
counted as (
  select case jsonb_typeof(value) when 'number' then trim_scale((value #>> '{}')::numeric)::text
         else value #>> '{}' end as value, count(*) as documents
  from held group by held.value),
top as (
  select value, documents from counted order by documents desc, value collate "C" limit $1),
totals as (
  select (select count(*) from scoped) as total, (select count(distinct number) from held) as present,
    (select coalesce(sum(documents), 0) from counted) as counted)
select t.total, t.total - t.present, t.counted, top.value, top.documents
from totals t left join top on true
order by top.documents desc, top.value collate "C"

-- name: search_top_values
-- $2 mode, $3 the caller's organisation: of the shared documents and its own, those that $4 (jsonpath) selects; $5
-- (jsonpath) gives a document's values.
with scoped as materialized (
  select row_number() over () as number, jsonb_path_query_array(e.doc, $5::jsonpath) as found
  from search_entity e
  where e.import_id = any (array(
      select i.id from search_import i
      where i.mode = $2 and i.state = :import_current and (i.org_id is null or i.org_id = $3)))
    and e.doc @? $4::jsonpath),
:search_counted

-- name: search_import_values
-- Of the import $2; $3 (jsonpath) gives a document's values.
with scoped as materialized (
  select row_number() over () as number, jsonb_path_query_array(e.doc, $3::jsonpath) as found
  from search_entity e where e.import_id = $2),
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
-- Deletes documents of imports that nobody sees, $2 at most, $1 hours after the last change; then the imports themselves.
with old as (
  select id from search_import
  where state in (:import_receiving, :import_counting, :import_former) and touched_at < now() - $1 * interval '1 hour'
  order by touched_at limit 1),
gone as (
  delete from search_entity
  where ctid = any (array(select e.ctid from search_entity e where e.import_id = (select id from old) limit $2))
  returning 1),
ended as (
  delete from search_import
  where id = (select id from old)
    and not exists (select 1 from search_entity e where e.import_id = search_import.id)
  returning 1)
select (select count(*) from gone) + (select count(*) from ended)
