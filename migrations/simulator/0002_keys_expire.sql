-- When a key is forgotten, in seconds of the simulator's clock. Its row goes with the first new key after that,
-- by the database itself: no request pays a round trip for it, and a key that comes again then is a new one.
alter table idempotency_keys add column expires integer not null default 0;

update idempotency_keys set expires = created + 86400;

drop index idempotency_keys_by_age;

create index idempotency_keys_by_expiry on idempotency_keys (expires);

create trigger forget_expired_keys before insert on idempotency_keys
begin
    delete from idempotency_keys where expires <= new.created;
end;
