-- Replaces a conversation's members, possibly with none, and makes it managed.
--
-- KEYS     1 typing:{CONVERSATION}: without a user, 2 typing:{CONVERSATION}, 3 members:{CONVERSATION}, 4 here:{CONVERSATION},
--          5 here:{CONVERSATION}:since; 2 to 4 are also the channels
-- ARGV     of each member the user, a space, and the display name: some services take at most some thousand arguments
-- Reply    TIME

local BATCH = 2000 -- Lua passes no more than some thousand arguments

-- This write comes first, because Redis refuses it at maxmemory: the script then does nothing, instead of a part.
redis.call('HSET', KEYS[3], '{managed}', '1')
redis.call('UNLINK', KEYS[3])
redis.call('HSET', KEYS[3], '{managed}', '1')

local names, fields = {}, {}
for _, member in ipairs(ARGV) do
  local space = string.find(member, ' ', 1, true)
  local user = string.sub(member, 1, space - 1)
  names[user] = true
  fields[#fields + 1], fields[#fields + 2] = user, string.sub(member, space + 1)
end
for first = 1, #fields, BATCH do
  redis.call('HSET', KEYS[3], unpack(fields, first, math.min(first + BATCH - 1, #fields)))
end

redis.call('PUBLISH', KEYS[3], '{"reset":true}')
local function stays(user) return names[user] end
end_typing_unless(stays)
end_here_unless(KEYS[4], KEYS[5], stays)
return now
