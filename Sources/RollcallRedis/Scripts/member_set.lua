-- Adds a member, or changes a member's name. The first member makes the conversation managed, after which no
-- user types or is here who is not a member.
--
-- KEYS     1 typing:{CONVERSATION}: without a user, 2 typing:{CONVERSATION}, 3 members:{CONVERSATION}, 4 here:{CONVERSATION},
--          5 here:{CONVERSATION}:since; 2 to 4 are also the channels
-- ARGV     1 user, 2 display name
-- Reply    TIME

local user, name = ARGV[1], ARGV[2]

local begins = redis.call('HSETNX', KEYS[3], '{managed}', '1') == 1
redis.call('HSET', KEYS[3], user, name)
if begins then
  redis.call('PUBLISH', KEYS[3], '{"reset":true}')
  local function stays(other) return other == user end
  end_typing_unless(stays)
  end_here_unless(KEYS[4], KEYS[5], stays)
end
redis.call('PUBLISH', KEYS[3],
  '{"user":' .. cjson.encode(user) .. ',"member":true,"name":' .. cjson.encode(name)
    .. ',"count":' .. member_count(KEYS[3]) .. '}')
return now
