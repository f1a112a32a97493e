-- The next delivery is looked for by its endpoint.
drop index deliveries_next;
