-- The reconciler: when it looks at an undecided checkout, and how long the provider has been of no help. The same
-- chapter for PostgreSQL stands in migrations/postgres under the same number.

-- A lease says until when nobody else may; this says when somebody must, whether or not the customer comes back.
alter table checkouts add column drive_at text;
-- How often in a row nothing was learned. The wait doubles with each, and an answer sets it back.
alter table checkouts add column failures integer not null default 0 check (failures >= 0);

update checkouts set drive_at = lease_until where status = 'pending';
drop index checkouts_to_drive;
create index checkouts_to_drive on checkouts (drive_at) where status = 'pending';
