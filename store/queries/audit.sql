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
