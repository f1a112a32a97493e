-- What the provider was asked for a purchase, for the operator who reads its story. The same chapter for SQLite stands in
-- migrations/sqlite under the same number.

-- Each call, in the transaction that says what came of its attempt: no names, no bodies, no keys.
create table provider_calls (
    checkout_id uuid        not null references checkouts (id),
    about       uuid        not null, -- the checkout's id, or that of one of its refunds
    attempt     bigint      not null check (attempt > 0), -- the how-manieth time that somebody was at work on it
    place       bigint      not null check (place > 0), -- among the calls of the attempt
    operation   text        not null, -- such as payment_intents.create
    ended       text        not null, -- the status and a word of the answer, or that there was none
    requests    bigint      not null check (requests > 0), -- more than one: it was tried again, or a list has several pages
    ended_at    timestamptz not null,
    primary key (checkout_id, about, attempt, place)
);

-- Until now it was noted why an attempt was in doubt, and not after which calls.
insert into provider_calls
    select checkout_id, checkout_id, attempt, 1, 'payment_intents', doubt, 1, noted_at from doubtful_attempts;
drop table doubtful_attempts;
