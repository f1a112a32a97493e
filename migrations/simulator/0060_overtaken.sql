-- Every delivery that arrives asks what has waited to be overtaken by it. That is next to nothing, whatever the backlog:
-- without an index of its own each would read all that is pending at its endpoint.
create index deliveries_overtaken on deliveries (endpoint_id, id) where fault = 'reorder' and state = 'pending';
