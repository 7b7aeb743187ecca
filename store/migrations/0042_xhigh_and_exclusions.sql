-- The feature `xhigh`: the tier xhigh of enrichment. Processes of the version before show it and know no such tier.
alter table organisation drop constraint organisation_features_check;
alter table organisation add constraint organisation_features_check
  check (features <@ array['monitors', 'testing_monitors', 'high_tier', 'xhigh']);
