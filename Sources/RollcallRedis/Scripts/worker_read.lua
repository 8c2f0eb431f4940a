-- Reads one incarnation's lease, for a reader that does not know the incarnation, and for its sweeper.
--
-- KEYS     1 {workers}, 2 {workers}:INCARNATION
-- ARGV[1]  incarnation
-- Reply    { TIME, end of its lease or null, its last beat or null }

local beat = redis.pcall('HGET', KEYS[2], 'beat') -- an error: it is no hash, and says nothing of a worker
return { now, redis.call('ZSCORE', KEYS[1], ARGV[1]), type(beat) == 'string' and beat }
