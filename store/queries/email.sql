-- name: email_suppressed
-- $1 questions, $2 organisations, $3 kinds, $4 hashes. A key of everybody's list, or of the organisation's own.
select distinct q.question, q.kind, q.hash
from unnest($1::int[], $2::uuid[], $3::smallint[], $4::bytea[]) q (question, org_id, kind, hash)
join suppression s on s.kind = q.kind and s.hash = q.hash and (s.org_id is null or s.org_id = q.org_id)

-- name: email_facts_read
-- $1 questions, $2 organisations, $3 keys of persons (empty: none), $4 addresses (empty: none), $5 facts of one question.
-- The key is told of facts that are about the person who was asked for.
select q.question, f.address,
  case when exists (select from email_owner o where o.org_id = q.org_id and o.person_key = q.person_key
                    and o.address = f.address) then q.person_key end,
  f.verdict, coalesce(f.reason, 0), f.stated, f.provider,
  coalesce(f.sources::text, '[]'), f.checked_at, f.until
from unnest($1::int[], $2::uuid[], $3::bytea[], $4::text[]) q (question, org_id, person_key, address)
cross join lateral (
  select k.*
  from (select q.address union
        select o.address from email_owner o where o.org_id = q.org_id and o.person_key = q.person_key) a (address)
  join email_fact k on k.org_id = q.org_id and k.address = a.address and k.until > now()
  order by k.checked_at desc
  limit $5) f
order by q.question, f.checked_at desc, f.address

-- name: email_patterns_read
-- $1 questions, $2 organisations, $3 domains.
select q.question, p.pattern, p.hits, p.misses
from unnest($1::int[], $2::uuid[], $3::text[]) q (question, org_id, domain)
join domain_pattern p on p.org_id = q.org_id and p.domain = q.domain
order by q.question, p.pattern

-- name: company_domains_read
-- $1 questions, $2 organisations, $3 keys of companies, $4 domains of one question.
select q.question, d.domain, d.hits
from unnest($1::int[], $2::uuid[], $3::bytea[]) q (question, org_id, company_key)
cross join lateral (
  select domain, hits from company_domain c
  where c.org_id = q.org_id and c.company_key = q.company_key
  order by c.hits desc, c.last_at desc
  limit $4) d
order by q.question, d.hits desc, d.domain

-- name: company_domain_add
-- A row a company and domain, sorted: $1 organisations, $2 keys of companies, $3 domains, $4 hits. Counts end at 10,000.
insert into company_domain (org_id, company_key, domain, hits, last_at)
select c.org_id, c.company_key, c.domain, c.hits, now()
from unnest($1::uuid[], $2::bytea[], $3::text[], $4::int[]) c (org_id, company_key, domain, hits)
on conflict (org_id, company_key, domain) do update
set hits = least(company_domain.hits + excluded.hits, 10000), last_at = now()

-- name: email_fact_upsert
-- A row a fact, sorted by organisation and address. A newer check wins; the people who have the address stand in
-- email_owner. Nothing is kept of addresses on the suppression list: an erasure may have come between the row and its
-- lesson. $10 and $11 are the kind (null: none) and hash under which an address would be listed.
insert into email_fact (org_id, address, verdict, reason, stated, provider, sources, checked_at, until)
select f.org_id, f.address, f.verdict, nullif(f.reason, 0), f.stated, f.provider, f.sources::json, f.checked_at, f.until
from unnest($1::uuid[], $2::text[], $3::smallint[], $4::smallint[], $5::boolean[], $6::text[], $7::text[],
  $8::timestamptz[], $9::timestamptz[], $10::smallint[], $11::bytea[])
  f (org_id, address, verdict, reason, stated, provider, sources, checked_at, until, kind, hash)
where not exists (select from suppression s
                  where s.kind = f.kind and s.hash = f.hash and (s.org_id is null or s.org_id = f.org_id))
on conflict (org_id, address) do update
set verdict = excluded.verdict, reason = excluded.reason,
    stated = excluded.stated or email_fact.stated, provider = excluded.provider, sources = excluded.sources,
    checked_at = excluded.checked_at, until = excluded.until
where email_fact.checked_at <= excluded.checked_at

-- name: email_owner_add
-- A row an owner, sorted: $1 organisations, $2 addresses, $3 keys of persons. Addresses without a fact have none.
insert into email_owner (org_id, address, person_key)
select o.org_id, o.address, o.person_key
from unnest($1::uuid[], $2::text[], $3::bytea[]) o (org_id, address, person_key)
join email_fact f on f.org_id = o.org_id and f.address = o.address
on conflict do nothing

-- name: email_pattern_add
-- A row a pattern, sorted: $1 organisations, $2 domains, $3 numbers, $4 hits, $5 misses. Counts end at 10,000.
insert into domain_pattern (org_id, domain, pattern, hits, misses, last_at)
select p.org_id, p.domain, p.pattern, p.hits, p.misses, now()
from unnest($1::uuid[], $2::text[], $3::smallint[], $4::int[], $5::int[]) p (org_id, domain, pattern, hits, misses)
on conflict (org_id, domain, pattern) do update
set hits = least(domain_pattern.hits + excluded.hits, 10000),
    misses = least(domain_pattern.misses + excluded.misses, 10000), last_at = now()

-- name: email_suppress
-- $1 kind, $2 hash, $3 organisation or null, $4 reason.
insert into suppression (id, kind, hash, org_id, reason)
values (gen_random_uuid(), $1, $2::bytea, $3, $4)
on conflict (kind, hash, coalesce(org_id, '00000000-0000-0000-0000-000000000000')) do nothing
returning kind

-- name: email_unsuppress
-- $1 kind, $2 hash, $3 organisation or null.
delete from suppression
where kind = $1 and hash = $2::bytea and org_id is not distinct from $3::uuid
returning kind
