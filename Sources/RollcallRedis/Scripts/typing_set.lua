-- Shared by scripts that change where a user types, after time.lua and typing_end.lua.
-- KEYS[1] is typing:{CONVERSATION}:USER, KEYS[2] is typing:{CONVERSATION}, also the channel, and ARGV[4] is typing.expiry in
-- milliseconds.

local longest = tonumber(ARGV[4])
local latest = latest_end(longest)

-- Returns those of these devices on which the user is still typing, each with its `ends`, the latest first.
local function still_typing(user, devices)
  local typing = {}
  for _, device in ipairs(devices) do
    device.ends = tonumber(redis.call('ZSCORE', KEYS[2], user .. ' ' .. device.name) or 0)
    if device.ends > now and device.ends <= latest then typing[#typing + 1] = device end
  end
  table.sort(typing, function(left, right)
    if left.ends == right.ends then return left.name < right.name end
    return left.ends > right.ends
  end)
  return typing
end

-- Publishes that the user types until `device` ends. `name` is the member's, or what the token says.
local function tell_typing(user, device, name)
  redis.call('PUBLISH', KEYS[2], '{"user":' .. cjson.encode(user) .. ',"typing":true,"expires_in":'
    .. whole(device.ends - now) .. ',"at":' .. whole(now) .. (name and ',"name":' .. cjson.encode(name) or '')
    .. (device.kind and ',"kind":' .. cjson.encode(device.kind) or '') .. '}')
end

-- What `read_typing` reads.
local function typing_text(devices, says)
  local words = {}
  for i, device in ipairs(devices) do
    words[i] = device.name .. (device.kind and '{' .. device.kind .. '}' or '')
  end
  return table.concat(words, ' ') .. (says and '\t' .. says or '')
end

-- Stores the devices of a user who types on at least one, and publishes that.
local function store_typing(user, devices, says, name)
  redis.call('SET', KEYS[1], typing_text(devices, says), 'PX', whole(devices[1].ends - now))
  tell_typing(user, devices[1], name or says)
end

-- Removes entries that have ended, or that are from before the clock was set back. Signals leave them: they have the most to
-- do, and whoever reads ignores such entries.
local function tidy()
  redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', whole(now))
  redis.call('ZREMRANGEBYSCORE', KEYS[2], '(' .. whole(latest), '+inf')
end
