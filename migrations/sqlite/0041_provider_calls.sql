-- What the provider was asked for a purchase, for the operator who reads its story. The same chapter for PostgreSQL stands in
-- migrations/postgres under the same number.

-- Each call, in the transaction that says what came of its attempt: no names, no bodies, no keys.
create table provider_calls (
    checkout_id blob    not null references checkouts (id),
    about       blob    not null, -- the checkout's id, or that of one of its refunds
    attempt     integer not null check (attempt > 0), -- the how-manieth time that somebody was at work on it
    place       integer not null check (place > 0), -- among the calls of the attempt
    operation   text    not null, -- such as payment_intents.create
    ended       text    not null, -- the status and a word of the answer, or that there was none
    requests    integer not null check (requests > 0), -- more than one: it was tried again, or a list has several pages
    ended_at    text    not null,
    primary key (checkout_id, about, attempt, place)
) strict;

-- Until now it was noted why an attempt was in doubt, and not after which calls.
insert into provider_calls
    select checkout_id, checkout_id, attempt, 1, 'payment_intents', doubt, 1, noted_at from doubtful_attempts;
drop table doubtful_attempts;
