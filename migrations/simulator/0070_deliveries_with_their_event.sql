-- What has to happen with a row happens with it, whoever writes the row, and no request pays a round trip for it.

-- An event comes with one delivery to each endpoint that wants it.
create trigger deliver_event after insert on objects when new.kind = 'event'
begin
    insert into deliveries (event_id, endpoint_id, next_attempt_at)
    select new.id, endpoint.id, new.created * 1000
    from objects endpoint
    where endpoint.kind = 'webhook_endpoint' and endpoint.body ->> '$.status' = 'enabled'
      and exists (select 1 from json_each(endpoint.body, '$.enabled_events')
                  where value in ('*', new.body ->> '$.type'))
    order by endpoint.seq;
end;

-- What waited to be overtaken by a delivery is due once that has arrived.
create trigger release_overtaken after update of state on deliveries when new.state = 'delivered'
begin
    update deliveries set next_attempt_at = 0
    where endpoint_id = new.endpoint_id and fault = 'reorder' and state = 'pending' and id < new.id;
end;
