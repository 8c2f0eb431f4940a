-- Claims the delivery of events to the app's webhook, or renews the claimant's own claim, and notes how far it is. What it notes of
-- its attempts stays for whoever delivers next.
--
-- KEYS[1]  events:state
-- ARGV     1 the claimant, 2 the duration of the claim in milliseconds (0 gives it back), 3 the ID of the last entry that
--          the claimant has delivered, or empty, 4 1 if whoever asks next may have the claim, since this claimant fails,
--          5 what the claimant notes of its attempts, or empty if that has not changed
-- Reply    null if another deliverer holds the claim, otherwise { the ID of the last entry that was delivered, or empty; TIME;
--          the notes, or empty }

-- This write changes nothing and is allowed at maxmemory. Redis then allows all further writes of the script.
redis.call('HDEL', KEYS[1], '')

local holder, since, length, position, offered, notes = unpack(
  redis.call('HMGET', KEYS[1], 'deliverer', 'claimed_at', 'claimed_for', 'delivered', 'offered', 'attempts'))
since, length = number(since), number(length)
local holds = since <= now and now - since <= length and offered ~= '1'
if holder and holder ~= ARGV[1] and holds then return false end
redis.call('HSET', KEYS[1], 'deliverer', ARGV[1], 'claimed_at', whole(now), 'claimed_for', ARGV[2], 'offered', ARGV[4])
if holder == ARGV[1] then
  if ARGV[3] ~= '' then
    redis.call('HSET', KEYS[1], 'delivered', ARGV[3])
    position = ARGV[3]
  end
  if ARGV[5] ~= '' then
    redis.call('HSET', KEYS[1], 'attempts', ARGV[5])
    notes = ARGV[5]
  end
end
return { position or '', now, notes or '' }
