-- Whose an address is, as an organisation's own lookups say: a fact apart from what its server said of it. Several people
-- may have one address, and nobody takes it from another. Nobody else sees it (G8). Processes of the version before know
-- nothing of it; for them email_fact.person_key stays, which names the person whom an address was found for first.
create table email_owner (
  org_id uuid not null,
  address text not null,
  person_key bytea not null check (length(person_key) = 16),  -- of the SHA-256 of folded name and domain
  primary key (org_id, person_key, address),
  foreign key (org_id, address) references email_fact on delete cascade
);
create index email_owner_address on email_owner (org_id, address);

-- What the provider of benchmarks invented is no fact.
delete from email_fact where provider = 'null';

insert into email_owner (org_id, address, person_key)
select org_id, address, person_key from email_fact where length(person_key) = 16;
