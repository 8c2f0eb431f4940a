-- Revokes the tokens that were issued for a user until now: device_write takes no session with one.
--
-- KEYS[1]  revoked:{USER}
-- ARGV[1]  how long that is to be known, in milliseconds
-- Reply    TIME

-- Permitted at maxmemory; after it, so is all that a script does.
redis.call('DEL', KEYS[1])
redis.call('SET', KEYS[1], whole(now), 'PX', ARGV[1])
return now
