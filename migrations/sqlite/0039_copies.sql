-- A mail that was sent can be sent again, when somebody asks for it. The same chapter for PostgreSQL stands in
-- migrations/postgres under the same number.

create table mails (
    about        blob    not null, -- the checkout's id, or the refund's
    kind         text    not null check (kind in ('order_confirmation', 'not_fulfilled', 'refund_notice')),
    copy         integer not null default 0 check (copy >= 0), -- 0: the mail itself, of which there is one; else the how-manieth copy
    checkout_id  blob    not null references checkouts (id), -- whose buyer gets it
    form_key     blob    unique, -- of the form that asked for the copy: the same form twice, one copy
    attempts     integer not null default 0 check (attempts >= 0),
    refusals     integer not null default 0 check (refusals >= 0),
    not_before   text, -- until then somebody sends it, or it waits before the next try
    last_error   text,
    created_at   text    not null,
    sent_at      text,
    given_up_at  text, -- refused, or tried too often: a person has to look
    primary key (about, kind, copy), -- one mail of a kind about each
    check (kind = 'refund_notice' or about = checkout_id),
    check ((copy = 0) = (form_key is null)),
    check (sent_at is null or given_up_at is null)
) strict;
insert into mails (about, kind, checkout_id, attempts, refusals, not_before, last_error, created_at, sent_at, given_up_at)
    select about, kind, checkout_id, attempts, refusals, not_before, last_error, created_at, sent_at, given_up_at from emails;
drop table emails;
alter table mails rename to emails;
create index emails_to_send on emails (attempts, created_at) where sent_at is null and given_up_at is null;
create index emails_by_checkout on emails (checkout_id);
create index emails_by_age on emails (created_at, about, kind, copy);
create index emails_given_up on emails (created_at) where given_up_at is not null;
