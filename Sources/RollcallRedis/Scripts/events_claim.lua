-- Claims the delivery of events to the app's webhook, or renews the claimant's own claim, and notes how far it is.
--
-- KEYS[1]  events:state
-- ARGV     1 the claimant, 2 the duration of the claim in milliseconds (0 gives it back), 3 the ID of the last entry that
--          the claimant has delivered, or empty
-- Reply    null if another deliverer holds the claim, otherwise the ID of the last entry that was delivered, or empty

-- This write changes nothing and is allowed at maxmemory. Redis then allows all further writes of the script.
redis.call('HDEL', KEYS[1], '')

local holder, since, length, position = unpack(
  redis.call('HMGET', KEYS[1], 'deliverer', 'claimed_at', 'claimed_for', 'delivered'))
since, length = tonumber(since or 0), tonumber(length or 0)
local holds = since <= now and now - since <= length
if holder and holder ~= ARGV[1] and holds then return false end
redis.call('HSET', KEYS[1], 'deliverer', ARGV[1], 'claimed_at', whole(now), 'claimed_for', ARGV[2])
if holder == ARGV[1] and ARGV[3] ~= '' then
  redis.call('HSET', KEYS[1], 'delivered', ARGV[3])
  return ARGV[3]
end
return position or ''
