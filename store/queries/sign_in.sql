-- name: passkey_insert
-- At most @passkeys_max of one person; no row where there are as many, or where the credential is known.
insert into passkey (id, email, credential_id, public_key, algorithm, sign_count, name)
select @id, @email, @credential_id::bytea, @public_key::bytea, @algorithm, @sign_count, @name
where (select count(*) from passkey where email = @email) < @passkeys_max
on conflict (credential_id) do nothing
returning id

-- name: passkey_find
select id, email, public_key, algorithm, sign_count from passkey where credential_id = @credential_id::bytea

-- name: passkey_use
-- No row where it was used meanwhile by another request that counts as this one does.
update passkey set sign_count = @sign_count, last_used_at = now()
where id = @id and sign_count = @known_count
returning id

-- name: passkeys_list
select id, credential_id, name, created_at, last_used_at from passkey where email = @email order by id

-- name: passkeys_count
select count(*) from passkey where email = @email

-- name: passkey_delete
delete from passkey where email = @email and id = @id returning id

-- name: passkeys_delete
delete from passkey where email = @email

-- name: ways_lock
-- One who changes what a person signs in with waits for another who does.
select pg_advisory_xact_lock(hashtextextended('ways of ' || @email::text, 0))

-- name: onetime_insert
insert into one_time_secret (secret_sha256, purpose, email, org_id, invitation_sha256, expires_at)
values (@secret_sha256::bytea, @purpose, @email, @org_id, @invitation_sha256::bytea,
        now() + @ttl_s * interval '1 second')
returning expires_at

-- name: onetime_find
select email, org_id, invitation_sha256 from one_time_secret
where secret_sha256 = @secret_sha256::bytea and purpose = @purpose and expires_at > now()

-- name: onetime_take
delete from one_time_secret
where secret_sha256 = @secret_sha256::bytea and purpose = @purpose and expires_at > now()
returning email, org_id, invitation_sha256

-- name: onetime_withdraw
delete from one_time_secret where purpose = @purpose and email = @email

-- name: onetime_expire
with gone as (
  delete from one_time_secret
  where secret_sha256 in (select secret_sha256 from one_time_secret where expires_at < now() limit @limit)
  returning 1)
select count(*) from gone
