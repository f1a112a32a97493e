-- For a payment intent with confirmation_method=manual: the payment method whose owner has approved the payment at
-- their bank. The next confirm with it asks nobody again.
alter table objects add column approved_method text;
