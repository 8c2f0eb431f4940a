-- Claims the next batch of what a dead incarnation holds. A single sweeper at a time saves work, but is not required.
--
-- KEYS     1 worker:{INCARNATION}:sweeper, 2 worker:{INCARNATION}:sessions, 3 worker:{INCARNATION}:here
-- ARGV     1 the claiming incarnation, 2 the duration of the claim in milliseconds, 3 the most of each list to return
-- Reply    null if another sweeper holds the claim, otherwise items of both lists; empty if none are left

-- This write changes nothing and is allowed at maxmemory. Redis then allows all further writes of the script.
redis.call('SREM', KEYS[2], '')

-- A claim contains its start time: after the clock was set back, the key would outlast the claim.
local claim = redis.pcall('GET', KEYS[1]) -- an error: it is no string, and nobody's claim
if type(claim) == 'string' then
  local holder, since = string.match(claim, '^([^ ]+) ?(%d*)')
  local holds = number(since) <= now and now - number(since) <= tonumber(ARGV[2])
  if holder ~= ARGV[1] and holds then return false end
end
redis.call('SET', KEYS[1], ARGV[1] .. ' ' .. whole(now), 'PX', ARGV[2])
local items = redis.call('SRANDMEMBER', KEYS[2], ARGV[3])
for _, entry in ipairs(redis.pcall('SRANDMEMBER', KEYS[3], ARGV[3])) do items[#items + 1] = entry end
return items
