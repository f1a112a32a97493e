-- For a payment method: 1 when its customer agreed, in a payment with setup_future_usage=off_session, that it is used
-- when they are not there. Some cards ask for nothing more from then on.
alter table objects add column set_up integer not null default 0 check (set_up in (0, 1));
