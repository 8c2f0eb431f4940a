-- Shared by scripts that end a user's typing, after time.lua. KEYS[2] is typing:{CONVERSATION}, also the channel.

local function tell_stopped(user)
  redis.call('PUBLISH', KEYS[2], '{"user":' .. cjson.encode(user) .. ',"typing":false,"at":' .. whole(now) .. '}')
end

-- Ends the typing of every user for which `stays` returns false. KEYS[1] is typing:{CONVERSATION}: without the user.
local function end_typing_unless(stays)
  local ended = {}
  for _, member in ipairs(redis.call('ZRANGE', KEYS[2], 0, -1)) do
    local user = string.match(member, '^[^ ]+')
    if not stays(user) then
      redis.call('ZREM', KEYS[2], member)
      if not ended[user] then
        ended[user] = true
        redis.call('DEL', KEYS[1] .. user)
        tell_stopped(user)
      end
    end
  end
end
