-- Revokes the tokens issued for a user until now, or before a time: device_write then refuses sessions with such a token. Of
-- several times the latest counts, since clocks differ: the host's, Redis's, and that of an earlier revocation.
--
-- KEYS[1]  revoked:{USER}
-- ARGV     1 how long to keep the revocation, in milliseconds,
--          2 the time, by the clock of the worker's host, 3 1 if Redis's own time counts too
-- Reply    the time that counts

-- This write is allowed at maxmemory. Redis then allows all further writes of the script.
redis.call('PERSIST', KEYS[1])
local known = redis.pcall('GET', KEYS[1]) -- an error: it is no string, and no revocation
local moment = math.max(number(known), tonumber(ARGV[2]), ARGV[3] == '1' and now or 0)
redis.call('SET', KEYS[1], whole(moment), 'PX', ARGV[1])
return whole(moment)
