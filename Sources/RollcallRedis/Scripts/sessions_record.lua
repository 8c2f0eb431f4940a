-- Notes that an incarnation is about to write these sessions, so that whoever sweeps it looks for them.
--
-- KEYS[1]  worker:{INCARNATION}:sessions
-- ARGV     up to 1000 session names
-- Reply    how many are new

-- Changes nothing, and is permitted at maxmemory; after it, so is all that a script does.
redis.call('SREM', KEYS[1], '')

return redis.call('SADD', KEYS[1], unpack(ARGV))
