-- The shop's tables, in the order in which a purchase meets them. The same chapter for SQLite stands in
-- migrations/sqlite under the same number. Money is in minor units, times are UTC with microseconds.

-- What is for sale. `stock` is what a new checkout can still take; `stocked` is everything ever put on the
-- shelf, so that the audit can account for each unit: stocked = stock + held + sold.
create table products (
    sku         text not null primary key,
    name        text not null,
    description text not null,
    price_minor bigint not null check (price_minor between 1 and 99999999),
    currency    text not null check (length(currency) = 3),
    stock       bigint not null check (stock >= 0), -- selling more than there is: impossible
    stocked     bigint not null check (stocked >= stock),
    created_at  timestamptz not null
);

-- A visitor's wish list. Its row is also the lock that keeps an edit of the cart and its purchase apart.
create table carts (
    id         uuid not null primary key,
    created_at timestamptz not null
);

create table cart_items (
    cart_id  uuid not null references carts (id) on delete cascade,
    sku      text not null references products (sku),
    quantity bigint not null check (quantity between 1 and 99),
    primary key (cart_id, sku)
);

-- One attempt to buy one cart. The row is committed before the provider hears of it, so a crash anywhere
-- leaves a row that says what to finish.
create table checkouts (
    id                uuid not null primary key,
    idempotency_key   uuid not null unique, -- the same form twice: one checkout
    cart_id           uuid not null references carts (id),
    visitor_id        uuid not null,
    fingerprint       text not null check (length(fingerprint) = 64),
    status            text not null check (status in ('pending', 'paid', 'declined', 'canceled')),
    amount_minor      bigint not null check (amount_minor > 0),
    currency          text not null check (length(currency) = 3),
    email             text not null,
    name              text not null,
    address           text not null,
    city              text not null,
    postal_code       text not null,
    country           text not null,
    payment_method    text not null,
    provider_request  text not null, -- the exact bytes sent with the key, whatever is configured later
    payment_intent_id text unique,
    next_action_url   text,
    failure_code      text,
    attempts          bigint not null check (attempts >= 0), -- how often it was driven
    lease_until       timestamptz,    -- until then somebody is at work on it, or waits before the next try
    look_up_since     timestamptz, -- since then the key is of no more use, and the payment is looked up
    created_at        timestamptz not null,
    concluded_at      timestamptz,
    check ((status = 'pending') = (concluded_at is null))
);

-- A new form for a cart that is being paid, or is paid: no second checkout. After a decline there may be one.
create unique index one_live_checkout_per_cart on checkouts (cart_id) where status in ('pending', 'paid');
create index checkouts_by_visitor on checkouts (visitor_id, created_at);
create index checkouts_to_drive on checkouts (lease_until) where status = 'pending';

-- What was agreed: the price of the moment, not today's.
create table checkout_lines (
    checkout_id  uuid not null references checkouts (id),
    sku          text not null references products (sku),
    name         text not null,
    quantity     bigint not null check (quantity between 1 and 99),
    unit_minor   bigint not null check (unit_minor > 0),
    amount_minor bigint not null check (amount_minor = unit_minor * quantity),
    primary key (checkout_id, sku)
);

-- Each unit taken from `products.stock`, and what became of it. One row for each checkout and product, so a
-- hold, a sale and a release each happen once.
create table stock_reservations (
    checkout_id uuid not null references checkouts (id),
    sku         text not null references products (sku),
    quantity    bigint not null check (quantity > 0),
    state       text not null check (state in ('held', 'sold', 'released')),
    primary key (checkout_id, sku)
);

-- Money that arrived, under the provider's own id.
create table payments (
    payment_intent_id text not null primary key,
    checkout_id       uuid not null unique references checkouts (id), -- a purchase is paid once
    amount_minor      bigint not null check (amount_minor > 0),
    currency          text not null check (length(currency) = 3),
    created_at        timestamptz not null
);

create table orders (
    number       text not null primary key,
    checkout_id  uuid not null unique references checkouts (id), -- a purchase becomes one order
    amount_minor bigint not null check (amount_minor > 0),
    currency     text not null check (length(currency) = 3),
    created_at   timestamptz not null
);

-- Every webhook event that took effect, or was seen to have none; written in the transaction of the effect.
create table processed_events (
    event_id    text not null primary key, -- the same event twice: one effect
    type        text not null,
    object_id   text,
    verdict     text not null check (verdict in ('applied', 'ignored', 'discrepancy')),
    received_at timestamptz not null
);

-- What the rest of the world must hear, written in the transaction that makes it true.
create table outbox (
    id           bigint generated always as identity primary key,
    aggregate_id uuid not null,
    event_type   text not null,
    version      bigint not null check (version > 0),
    payload      jsonb not null,
    created_at   timestamptz not null,
    published_at timestamptz,
    unique (aggregate_id, event_type, version)
);

-- Where the provider and we disagree. Nothing is fulfilled on such news; a person looks at it.
create table discrepancies (
    id          uuid not null primary key,
    kind        text not null,
    object_id   text not null,
    checkout_id uuid references checkouts (id),
    detail      text not null,
    created_at  timestamptz not null,
    resolved_at timestamptz,
    unique (kind, object_id)
);

-- Visitors' sessions: a cart's id and the visitor's own, under an id nobody can guess.
create table sessions (
    id         text not null primary key,
    record     jsonb not null,
    expires_at bigint not null -- seconds since 1970
);
create index sessions_by_expiry on sessions (expires_at);
