-- Adds a member, or changes a member's name. The first member makes the conversation managed, which ends the typing
-- of all users who are not members.
--
-- KEYS     1 typing:{CONVERSATION}: without a user, 2 typing:{CONVERSATION}, 3 members:{CONVERSATION}; 2 and 3 are
--          also the channels
-- ARGV     1 user, 2 display name
-- Reply    TIME

local user, name = ARGV[1], ARGV[2]

local begins = redis.call('HSETNX', KEYS[3], '{managed}', '1') == 1
redis.call('HSET', KEYS[3], user, name)
if begins then
  redis.call('PUBLISH', KEYS[3], '{"reset":true}')
  end_typing_unless(function(other) return other == user end)
end
redis.call('PUBLISH', KEYS[3],
  '{"user":' .. cjson.encode(user) .. ',"member":true,"name":' .. cjson.encode(name)
    .. ',"count":' .. member_count(KEYS[3]) .. '}')
return now
