-- Keys that OAuth clients publish under a URL, and the name that an identity provider has for an organisation
-- (docs/decisions/0023). Everything here is an addition: binaries before it work on beside it, but refuse the assertions of
-- clients that publish their keys.

-- What a claim of the operator's identity provider may name the organisation by, beside its id.
alter table organisation add column external_id text unique check (length(external_id) between 1 and 255);

alter table oauth_client
  add column jwks_uri text check (length(jwks_uri) between 1 and 2083),  -- null = its keys are uploaded
  -- [{"kid", "alg", "key"}], the keys that can be used; "key" is SubjectPublicKeyInfo in base64url. null = never fetched.
  add column jwks json,
  add column jwks_fetched_at timestamptz,  -- when jwks came
  add column jwks_tried_at timestamptz,    -- when the last fetch began: it fences the fetches of the whole fleet
  add column jwks_ended_at timestamptz,    -- when the last fetch ended
  add column jwks_error text;              -- of the last fetch; null = it succeeded
