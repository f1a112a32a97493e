-- How far the provider's own list of events was read, delivered or not. The same chapter for PostgreSQL stands in
-- migrations/postgres under the same number.

create table events_read (
    id       integer not null primary key check (id = 1), -- one position, whichever process moves it
    event_id text not null,
    created  integer not null, -- seconds since 1970, by the provider's clock
    read_at  text not null
) strict;
