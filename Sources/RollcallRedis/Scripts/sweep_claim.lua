-- Claims the next batch of what a dead incarnation left. One sweeper at a time saves work; nothing depends on it.
--
-- KEYS     1 worker:{INCARNATION}:sweeper, 2 worker:{INCARNATION}:sessions
-- ARGV     1 the claiming incarnation, 2 how long the claim holds (milliseconds), 3 the largest batch
-- Reply    null if another sweeper holds the claim, else up to that many session names; none are left if empty

-- Changes nothing, and is permitted at maxmemory; after it, so is all that a script does.
redis.call('SREM', KEYS[2], '')

-- A claim says since when it holds: after the clock is set back the key outlives the claim.
local claim = redis.pcall('GET', KEYS[1]) -- an error: it is no string, and nobody's claim
if type(claim) == 'string' then
  local holder, since = string.match(claim, '^([^ ]+) ?(%d*)')
  since = tonumber(since) -- nil: an older version's claim
  local holds = not since or (since <= now and now - since <= tonumber(ARGV[2]))
  if holder ~= ARGV[1] and holds then return false end
end
redis.call('SET', KEYS[1], ARGV[1] .. ' ' .. whole(now), 'PX', ARGV[2])
return redis.call('SRANDMEMBER', KEYS[2], ARGV[3])
