-- name: audit_insert
insert into audit (id, actor, action, target, org_id, reason, detail, remote_address, principal_kind,
  principal_id, on_behalf_of)
values (@id, @actor, @action, @target, @org_id, @reason, @detail::json, @remote_address, @principal_kind,
        @principal_id, @on_behalf_of)

-- name: audit_list
-- @at, @id the place of the last entry of the page before; @limit limit; @org_id organisation, @principal_id principal,
-- @action action, @actor actor, @target target, each or null
select id, at, actor, action, target, org_id, reason, detail, remote_address, principal_kind, principal_id, on_behalf_of
from audit
where (@at::timestamptz is null or (at, id) < (@at::timestamptz, @id::uuid))
  and (@org_id::uuid is null or org_id = @org_id) and (@principal_id::uuid is null or principal_id = @principal_id)
    and (@action::text is null or action = @action)
  and (@actor::text is null or actor = @actor) and (@target::text is null or target = @target)
order by at desc, id desc
limit @limit

-- name: audit_any_unsealed
select exists (select from audit where seq is null)

-- name: audit_oldest_unsealed
select coalesce(extract(epoch from now() - min(at)) * 1000000, 0)::bigint from audit where seq is null

-- name: audit_chain_lock
select seq, hash from audit_chain for update

-- name: audit_chain_get
select seq, hash, kept_after, kept_hash from audit_chain

-- name: audit_chain_move
update audit_chain set seq = @seq, hash = @hash::bytea

-- name: audit_unsealed
-- Locked, so that no erasure changes what is being sealed.
select id, at, actor, action, target, org_id, reason, detail, remote_address, principal_kind, principal_id, on_behalf_of
from audit
where seq is null
order by at, id
limit @limit
for update

-- name: audit_seal
-- @salt, @details and @hash are hexadecimal digits.
update audit a
set seq = u.seq, salt = decode(u.salt, 'hex'), details = decode(u.details, 'hex'), hash = decode(u.hash, 'hex')
from unnest(@id::uuid[], @seq::bigint[], @salt::text[], @details::text[], @hash::text[]) as u(id, seq, salt, details, hash)
where a.id = u.id

-- name: audit_sealed
-- @after the place behind which they are; @limit limit
select id, at, actor, action, target, org_id, reason, detail, remote_address, principal_kind, principal_id, on_behalf_of,
  seq, salt, details, hash, erased_at
from audit
where seq > @after
order by seq
limit @limit
