-- name: email_suppressed
-- @question questions, @org_id organisations, @kind kinds, @hash hashes. A key of everybody's list, or of the
-- organisation's own.
select distinct q.question, q.kind, q.hash
from unnest(@question::int[], @org_id::uuid[], @kind::smallint[], @hash::bytea[]) q (question, org_id, kind, hash)
join suppression s on s.kind = q.kind and s.hash = q.hash and (s.org_id is null or s.org_id = q.org_id)

-- name: email_facts_read
-- @question questions, @org_id organisations, @person_key keys of persons (empty: none), @address addresses (empty:
-- none), @limit facts of one question. The key is told of facts that are about the person who was asked for.
select q.question, f.address,
  case when exists (select from email_owner o where o.org_id = q.org_id and o.person_key = q.person_key
                    and o.address = f.address) then q.person_key end as person_key,
  f.verdict, coalesce(f.reason, 0) as reason, f.stated, f.provider,
  coalesce(f.sources::text, '[]') as sources, f.checked_at, f.until
from unnest(@question::int[], @org_id::uuid[], @person_key::bytea[], @address::text[]) q (question, org_id,
  person_key, address)
cross join lateral (
  select k.*
  from (select q.address union
        select o.address from email_owner o where o.org_id = q.org_id and o.person_key = q.person_key) a (address)
  join email_fact k on k.org_id = q.org_id and k.address = a.address and k.until > now()
  order by k.checked_at desc
  limit @limit) f
order by q.question, f.checked_at desc, f.address

-- name: email_patterns_read
-- @question questions, @org_id organisations, @domain domains.
select q.question, p.pattern, p.hits, p.misses
from unnest(@question::int[], @org_id::uuid[], @domain::text[]) q (question, org_id, domain)
join domain_pattern p on p.org_id = q.org_id and p.domain = q.domain
order by q.question, p.pattern

-- name: company_domains_read
-- @question questions, @org_id organisations, @company_key keys of companies, @limit domains of one question.
select q.question, d.domain, d.hits
from unnest(@question::int[], @org_id::uuid[], @company_key::bytea[]) q (question, org_id, company_key)
cross join lateral (
  select domain, hits from company_domain c
  where c.org_id = q.org_id and c.company_key = q.company_key
  order by c.hits desc, c.last_at desc
  limit @limit) d
order by q.question, d.hits desc, d.domain

-- name: company_domain_add
-- A row a company and domain, sorted: @org_id organisations, @company_key keys of companies, @domain domains, @hits
-- hits. Counts end at 10,000.
insert into company_domain (org_id, company_key, domain, hits, last_at)
select c.org_id, c.company_key, c.domain, c.hits, now()
from unnest(@org_id::uuid[], @company_key::bytea[], @domain::text[], @hits::int[]) c (org_id, company_key, domain, hits)
on conflict (org_id, company_key, domain) do update
set hits = least(company_domain.hits + excluded.hits, 10000), last_at = now()

-- name: email_fact_upsert
-- A row a fact, sorted by organisation and address. A newer check wins; the people who have the address stand in
-- email_owner. Nothing is kept of addresses on the suppression list: an erasure may have come between the row and its
-- lesson. @kind and @hash are the kind (null: none) and hash under which an address would be listed.
insert into email_fact (org_id, address, verdict, reason, stated, provider, sources, checked_at, until)
select f.org_id, f.address, f.verdict, nullif(f.reason, 0), f.stated, f.provider, f.sources::json, f.checked_at, f.until
from unnest(@org_id::uuid[], @address::text[], @verdict::smallint[], @reason::smallint[], @stated::boolean[],
  @provider::text[], @sources::text[],
  @checked_at::timestamptz[], @until::timestamptz[], @kind::smallint[], @hash::bytea[])
  f (org_id, address, verdict, reason, stated, provider, sources, checked_at, until, kind, hash)
where not exists (select from suppression s
                  where s.kind = f.kind and s.hash = f.hash and (s.org_id is null or s.org_id = f.org_id))
on conflict (org_id, address) do update
set verdict = excluded.verdict, reason = excluded.reason,
    stated = excluded.stated or email_fact.stated, provider = excluded.provider, sources = excluded.sources,
    checked_at = excluded.checked_at, until = excluded.until
where email_fact.checked_at <= excluded.checked_at

-- name: email_owner_add
-- A row an owner, sorted: @org_id organisations, @address addresses, @person_key keys of persons. Addresses without a
-- fact have none.
insert into email_owner (org_id, address, person_key)
select o.org_id, o.address, o.person_key
from unnest(@org_id::uuid[], @address::text[], @person_key::bytea[]) o (org_id, address, person_key)
join email_fact f on f.org_id = o.org_id and f.address = o.address
on conflict do nothing

-- name: email_pattern_add
-- A row a pattern, sorted: @org_id organisations, @domain domains, @pattern numbers, @hits hits, @misses misses. Counts
-- end at 10,000.
insert into domain_pattern (org_id, domain, pattern, hits, misses, last_at)
select p.org_id, p.domain, p.pattern, p.hits, p.misses, now()
from unnest(@org_id::uuid[], @domain::text[], @pattern::smallint[], @hits::int[], @misses::int[]) p (org_id, domain,
  pattern, hits, misses)
on conflict (org_id, domain, pattern) do update
set hits = least(domain_pattern.hits + excluded.hits, 10000),
    misses = least(domain_pattern.misses + excluded.misses, 10000), last_at = now()

-- name: email_suppress
-- @kind kind, @hash hash, @org_id organisation or null, @reason reason.
insert into suppression (id, kind, hash, org_id, reason)
values (gen_random_uuid(), @kind, @hash::bytea, @org_id, @reason)
on conflict (kind, hash, coalesce(org_id, '00000000-0000-0000-0000-000000000000')) do nothing
returning kind

-- name: email_unsuppress
-- @kind kind, @hash hash, @org_id organisation or null.
delete from suppression
where kind = @kind and hash = @hash::bytea and org_id is not distinct from @org_id::uuid
returning kind
