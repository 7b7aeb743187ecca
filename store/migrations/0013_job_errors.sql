-- What went wrong last with the rows of a job, for the operator: an error's code and its sentence, nothing of the row.
-- Additive: processes of the version before go on under it, and leave the columns as they are.

alter table job_block add column last_error text;
alter table job_chunk add column last_error text;
