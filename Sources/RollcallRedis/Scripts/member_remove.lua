-- Removes a member, who no longer types or is here. The conversation stays managed without any members. Does nothing if it is not
-- managed.
--
-- KEYS     1 typing:{CONVERSATION}:USER, 2 typing:{CONVERSATION}, 3 members:{CONVERSATION}, 4 here:{CONVERSATION},
--          5 here:{CONVERSATION}:since; 2 to 4 are also the channels
-- ARGV[1]  user
-- Reply    { 1, or 0 if the conversation is not managed; TIME }

local user = ARGV[1]

if redis.call('HEXISTS', KEYS[3], '{managed}') == 0 then return { 0, now } end
redis.call('HDEL', KEYS[3], user)

local typing = redis.call('GET', KEYS[1])
if typing then
  for _, device in ipairs(read_typing(typing)) do redis.call('ZREM', KEYS[2], user .. ' ' .. device.name) end
  redis.call('DEL', KEYS[1])
  tell_stopped(user)
end
end_here(KEYS[4], KEYS[5], user)
redis.call('PUBLISH', KEYS[3],
  '{"user":' .. cjson.encode(user) .. ',"member":false,"count":' .. member_count(KEYS[3]) .. '}')
return { 1, now }
