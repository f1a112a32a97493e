-- A deleted object (a customer) stays: whoever asks for it by its id is told that it is deleted. Nothing else
-- finds it any more.
alter table objects add column deleted integer not null default 0 check (deleted in (0, 1));

-- For a payment method: 1 when it may not be used again. It paid without belonging to a customer, or it was
-- detached from one.
alter table objects add column spent integer not null default 0 check (spent in (0, 1));
