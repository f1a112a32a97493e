-- A mail that was sent can be sent again, when somebody asks for it. The same chapter for SQLite stands in
-- migrations/sqlite under the same number.

alter table emails add column copy bigint not null default 0 check (copy >= 0); -- 0: the mail itself, of which there is one; else the how-manieth copy
alter table emails add column form_key uuid unique; -- of the form that asked for the copy: the same form twice, one copy
alter table emails add check ((copy = 0) = (form_key is null));
-- 0022 has made the key when the table was still called otherwise.
alter table emails drop constraint mails_pkey;
alter table emails add primary key (about, kind, copy); -- one mail of a kind about each
create index emails_by_age on emails (created_at, about, kind, copy);
create index emails_given_up on emails (created_at) where given_up_at is not null;
