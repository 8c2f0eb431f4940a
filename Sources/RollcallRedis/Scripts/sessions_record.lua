-- Adds sessions or entries to an incarnation's list before they are written, so that a sweep of the incarnation finds them.
--
-- KEYS[1]  worker:{INCARNATION}:sessions or worker:{INCARNATION}:here
-- ARGV     1 the write deadline, 2… up to 1000 items
-- Reply    1, or 0 if the deadline has passed: the incarnation may be swept and deleted, and the list never be found

-- This write changes nothing and is allowed at maxmemory. Redis then allows all further writes of the script.
redis.call('SREM', KEYS[1], '')

if now > tonumber(ARGV[1]) then return 0 end
redis.call('SADD', KEYS[1], unpack(ARGV, 2))
return 1
