-- Gives a conversation these members and no others (none at all, too), and begins its management.
--
-- KEYS     1 typing:{CONVERSATION}: without a user, 2 typing:{CONVERSATION}, 3 members:{CONVERSATION}; 2 and 3 are
--          also the channels
-- ARGV     user, display name, user, display name …
-- Reply    TIME

-- First, since it is the write that Redis refuses at maxmemory: nothing is half done.
redis.call('HSET', KEYS[3], '{managed}', '1')

local names = {}
for i = 1, #ARGV, 2 do
  names[ARGV[i]] = ARGV[i + 1]
  redis.call('HSET', KEYS[3], ARGV[i], ARGV[i + 1])
end
for _, user in ipairs(redis.call('HKEYS', KEYS[3])) do
  if not names[user] and user ~= '{managed}' then redis.call('HDEL', KEYS[3], user) end
end

redis.call('PUBLISH', KEYS[3], '{"reset":true}')
end_typing_unless(function(user) return names[user] end)
return now
