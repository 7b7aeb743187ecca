-- name: accounts_lock
select org_id, balance_mc from account where org_id = any(@org_ids::uuid[]) order by org_id for update

-- name: accounts_reserve
update account a set balance_mc = a.balance_mc - u.amount_mc
from unnest(@org_id::uuid[], @amount_mc::bigint[]) as u(org_id, amount_mc)
where a.org_id = u.org_id

-- name: accounts_return
update account a set balance_mc = a.balance_mc + u.amount_mc
from unnest(@org_id::uuid[], @amount_mc::bigint[]) as u(org_id, amount_mc)
where a.org_id = u.org_id

-- name: team_spend_ensure
insert into team_spend (team_id, month)
select * from unnest(@team_id::uuid[], @month::date[])
on conflict do nothing

-- name: team_spend_lock
select s.team_id, s.month, s.spent_mc, t.spend_limit_mc
from unnest(@team_id::uuid[], @month::date[]) as u(team_id, month)
join team_spend s on s.team_id = u.team_id and s.month = u.month
join team t on t.id = s.team_id
order by s.team_id, s.month
for update of s

-- name: team_spend_add
update team_spend s set spent_mc = s.spent_mc + u.amount_mc
from unnest(@team_id::uuid[], @month::date[], @amount_mc::bigint[]) as u(team_id, month, amount_mc)
where s.team_id = u.team_id and s.month = u.month

-- name: team_spend_return
update team_spend s set spent_mc = s.spent_mc - u.amount_mc
from unnest(@team_id::uuid[], @month::date[], @amount_mc::bigint[]) as u(team_id, month, amount_mc)
where s.team_id = u.team_id and s.month = u.month
