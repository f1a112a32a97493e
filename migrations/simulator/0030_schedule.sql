-- What happens by itself later: an authorization expires, a bank debit is settled. A row is written in the
-- transaction of its cause and deleted in that of its effect, so that each happens once, whatever crashes between.
create table scheduled (
    id integer primary key autoincrement,
    -- Milliseconds of the simulator's clock.
    due_at integer not null,
    -- One of the words of `schedule::Effect`.
    effect text not null,
    -- What it happens to.
    object_id text not null
) strict;

create index scheduled_by_time on scheduled (due_at, id);
