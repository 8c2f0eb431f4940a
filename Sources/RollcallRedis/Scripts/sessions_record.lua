-- Notes that an incarnation is about to write these sessions, so that whoever sweeps it looks for them.
--
-- KEYS[1]  worker:{INCARNATION}:sessions
-- ARGV     1 until when this may be written, 2 how many milliseconds ahead that can lie (empty: any),
--          3… up to 1000 session names
-- Reply    1, or 0 if it is too late: the incarnation may have been swept and forgotten, and nobody would find the list

-- Changes nothing, and is permitted at maxmemory; after it, so is all that a script does.
redis.call('SREM', KEYS[1], '')

if is_too_late(tonumber(ARGV[1]), ARGV[2]) then return 0 end
redis.call('SADD', KEYS[1], unpack(ARGV, 3))
return 1
