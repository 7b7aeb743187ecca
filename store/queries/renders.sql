-- fragment: render_free
-- Whether a page r may be claimed: it waits, or the process that had it is gone and others may try.
(r.state = :render_waiting
 or r.state in (:render_offered, :render_taken) and r.leased_until <= now() and r.claims < :render_claims_max)

-- name: render_ask
insert into render (id, org_id, state, asked_until, request)
values (@id, @org_id, :render_waiting, now() + @asked_ms * interval '1 millisecond', @request)

-- name: render_renew
update render set asked_until = now() + @asked_ms * interval '1 millisecond'
where id = any (@ids::uuid[])
returning id

-- name: render_look
-- What has come of pages that were asked for: those that are offered, answered, or that nobody will try again.
select r.id, r.state, r.lease_token, r.claims
from render r
where r.id = any (@ids::uuid[])
  and (r.state in (:render_offered, :render_answered)
       or r.state = :render_taken and r.leased_until <= now() and r.claims >= :render_claims_max)

-- name: render_accept
update render r set state = :render_taken
from unnest(@id::uuid[], @token::uuid[]) as l(id, token)
where r.id = l.id and r.lease_token = l.token and r.state = :render_offered
returning r.id

-- name: render_collect
delete from render where id = any (@ids::uuid[]) and state = :render_answered
returning id, answer

-- name: render_collect_held
-- The rows of pages that stay open for their pictures stay, without what was read.
with answered as (
  select id, answer from render where id = any (@ids::uuid[]) and state = :render_answered for update)
update render r set state = :render_held, answer = null
from answered a
where r.id = a.id
returning r.id, a.answer

-- name: render_ask_picture
update render set state = :render_pictured, request = @request where id = @id and state = :render_held

-- name: render_cancel
delete from render where id = any (@ids::uuid[])

-- name: render_claim
-- The pages whose turn it is, at most @limit: that of the organisation which has used least, @used by organisation and
-- @least where none is said; each page counts @page until it has ended. What another process claims meanwhile is left out.
with free as (
  select r.id, r.org_id, r.requested_at,
         row_number() over (partition by r.org_id order by r.requested_at) - 1 as before
  from render r
  where r.answer is null and r.asked_until > now() and :render_free
), picked as (
  select r.id
  from free f
  left join unnest(@org_ids::uuid[], @used::bigint[]) as u(org_id, used) on u.org_id = f.org_id
  join render r on r.id = f.id
  where r.answer is null and :render_free
  order by greatest(coalesce(u.used, 0), @least::bigint) + f.before * @page::bigint, f.requested_at
  limit @limit
  for update of r skip locked
)
update render r
set state = :render_offered, lease_token = @token, claims = r.claims + 1,
    leased_until = now() + @lease_ms * interval '1 millisecond'
from picked p
where r.id = p.id
returning r.id, r.org_id, r.request

-- name: render_hold
-- A page that nobody asks for any more is not held either.
update render r set leased_until = now() + @lease_ms * interval '1 millisecond'
from unnest(@id::uuid[], @token::uuid[]) as l(id, token)
where r.id = l.id and r.lease_token = l.token and r.state in (:render_offered, :render_taken) and r.asked_until > now()
returning r.id

-- name: render_taken
select r.id
from render r join unnest(@id::uuid[], @token::uuid[]) as l(id, token) on r.id = l.id and r.lease_token = l.token
where r.state = :render_taken

-- name: render_open_pages
-- Those for which somebody still asks, with what is asked of their pictures.
select r.id, case when r.state = :render_pictured then r.request else '' end as answer
from render r join unnest(@id::uuid[], @token::uuid[]) as l(id, token) on r.id = l.id and r.lease_token = l.token
where r.asked_until > now()

-- name: render_answer
-- The page, or its picture.
update render set state = :render_answered, answer = @answer
where id = @id and lease_token = @token and state in (:render_taken, :render_pictured)
returning id

-- name: render_give_back
update render r set state = :render_waiting, lease_token = null, leased_until = '-infinity', claims = r.claims - 1
from unnest(@id::uuid[], @token::uuid[]) as l(id, token)
where r.id = l.id and r.lease_token = l.token and r.state in (:render_offered, :render_taken)

-- name: render_forget
-- Offers that nobody took.
delete from render r
using unnest(@id::uuid[], @token::uuid[]) as l(id, token)
where r.id = l.id and r.lease_token = l.token and r.state = :render_offered

-- name: render_expire
-- Pages for which nobody waits any more.
with gone as (
  delete from render
  where id = any (array(select id from render where asked_until < now() - interval '1 minute' limit @limit))
  returning 1)
select count(*) from gone

-- name: render_members
-- Whether a process of the role browser is alive, and whether there has been one lately: it is shown then.
select coalesce(bool_or(heartbeat_at > now() - @alive_ms * interval '1 millisecond'), false) as alive,
       count(*) > 0 as shown
from member where 'browser' = any (roles)
