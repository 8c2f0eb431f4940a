-- Replaces a conversation's members, possibly with none, and makes it managed.
--
-- KEYS     1 typing:{CONVERSATION}: without a user, 2 typing:{CONVERSATION}, 3 members:{CONVERSATION}; 2 and 3 are
--          also the channels
-- ARGV     user, display name, user, display name …
-- Reply    TIME

local BATCH = 2000 -- Lua passes no more than some thousand arguments

-- This write comes first, because Redis refuses it at maxmemory: the script then does nothing, instead of a part.
redis.call('HSET', KEYS[3], '{managed}', '1')
redis.call('UNLINK', KEYS[3])
redis.call('HSET', KEYS[3], '{managed}', '1')

local names = {}
for first = 1, #ARGV, BATCH do
  local last = math.min(first + BATCH - 1, #ARGV)
  for i = first, last, 2 do names[ARGV[i]] = true end
  redis.call('HSET', KEYS[3], unpack(ARGV, first, last))
end

redis.call('PUBLISH', KEYS[3], '{"reset":true}')
end_typing_unless(function(user) return names[user] end)
return now
