-- Revokes the tokens that were issued for a user before a moment: device_write takes no session with one.
--
-- KEYS[1]  revoked:{USER}
-- ARGV     1 how long that is to be known, in milliseconds, 2 the moment, by the clock of the worker's host, which tokens
--          are judged by
-- Reply    TIME

-- Permitted at maxmemory; after it, so is all that a script does.
redis.call('DEL', KEYS[1])
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[1])
return now
