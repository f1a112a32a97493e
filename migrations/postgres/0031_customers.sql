-- Customers. The same chapter for SQLite stands in migrations/sqlite under the same number.

-- Whoever has ordered something.
create table customers (
    id             uuid        not null primary key,
    email_folded   text        not null unique, -- one address, however it is spelt: one customer
    email          text        not null, -- as it was typed last
    name           text        not null,
    first_order_at timestamptz not null,
    last_order_at  timestamptz not null,
    check (first_order_at <= last_order_at)
);

-- None: an order from before there were customers, of somebody whose address only the program can fold.
alter table orders add column customer_id uuid references customers (id);
create index orders_by_customer on orders (customer_id);

insert into customers (id, email_folded, email, name, first_order_at, last_order_at)
    select checkout_id, folded, email, name, first_order_at, created_at
    from (select o.checkout_id, lower(c.email) as folded, c.email, c.name, o.created_at,
                 min(o.created_at) over (partition by lower(c.email)) as first_order_at,
                 row_number() over (partition by lower(c.email) order by o.created_at desc, o.number) as place
          from orders o join checkouts c on c.id = o.checkout_id
          where octet_length(c.email) = length(c.email)) as ordered
    where place = 1;
update orders set customer_id =
    (select u.id from customers u join checkouts c on u.email_folded = lower(c.email) where c.id = orders.checkout_id);
