-- Claims the next batch of what a dead incarnation left. One sweeper at a time saves work; nothing depends on it.
--
-- KEYS     1 worker:{INCARNATION}:sweeper, 2 worker:{INCARNATION}:sessions
-- ARGV     1 the claiming incarnation, 2 how long the claim holds (milliseconds), 3 the largest batch
-- Reply    null if another sweeper holds the claim, else up to that many session names; none are left if empty

-- Changes nothing, and is permitted at maxmemory; after it, so is all that a script does.
redis.call('SREM', KEYS[2], '')

local holder = redis.pcall('GET', KEYS[1]) -- an error: it is no string, and nobody's claim
if type(holder) == 'string' and holder ~= ARGV[1] then return false end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return redis.call('SRANDMEMBER', KEYS[2], ARGV[3])
