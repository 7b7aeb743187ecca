-- claimed: a claim of the identity provider has made the member, not an invitation. He follows the claim: its team at each
-- sign-in, and no way in where it names another organisation. Of who was made one before nothing is known, and he stays.
alter table org_user add column claimed boolean not null default false;
