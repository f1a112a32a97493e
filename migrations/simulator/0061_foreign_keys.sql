-- An object's id is read out of its document. So whenever a document is written SQLite asks who refers to the id as it was,
-- and without an index of all of a table's rows it would read the whole table for that.
create index deliveries_by_event on deliveries (event_id);
create index deliveries_by_endpoint on deliveries (endpoint_id);
