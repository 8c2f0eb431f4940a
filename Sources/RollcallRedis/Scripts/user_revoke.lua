-- Revokes the tokens issued for a user before a time: device_write then refuses sessions with such a token.
--
-- KEYS[1]  revoked:{USER}
-- ARGV     1 how long to keep the revocation, in milliseconds,
--          2 the time, by the clock of the worker's host, by which tokens are judged
-- Reply    TIME

-- This write is allowed at maxmemory. Redis then allows all further writes of the script.
redis.call('DEL', KEYS[1])
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[1])
return now
