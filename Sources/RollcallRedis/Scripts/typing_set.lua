-- Shared by typing_signal and typing_stop, after time.lua: where a user types, and what others are told of it.
-- KEYS[1] typing:{CONVERSATION}:USER, KEYS[2] typing:{CONVERSATION}, also the channel.

-- The devices named, if the user still types there: `name` and `ends` of each, the one that ends last first.
local function still_typing(user, names)
  local devices = {}
  for _, name in ipairs(names) do
    local ends = tonumber(redis.call('ZSCORE', KEYS[2], user .. ' ' .. name) or 0)
    if ends > now then devices[#devices + 1] = { name = name, ends = ends } end
  end
  table.sort(devices, function(left, right)
    if left.ends == right.ends then return left.name < right.name end
    return left.ends > right.ends
  end)
  return devices
end

-- The devices other than `device` that the string named.
local function others(string_before, device)
  local names = {}
  for name in string.gmatch(string_before, '[^ ]+') do
    if name ~= device then names[#names + 1] = name end
  end
  return names
end

local function tell_typing(user, ends, name)
  redis.call('PUBLISH', KEYS[2], '{"user":' .. cjson.encode(user) .. ',"typing":true,"expires_in":' .. whole(ends - now)
    .. ',"at":' .. whole(now) .. (name and ',"name":' .. cjson.encode(name) or '') .. '}')
end

-- Stores in the string what the sorted set says of the user, who types on one device at least, and tells the others.
local function store_typing(user, devices, name)
  local names = {}
  for i, device in ipairs(devices) do names[i] = device.name end
  redis.call('SET', KEYS[1], table.concat(names, ' '), 'PX', whole(devices[1].ends - now))
  tell_typing(user, devices[1].ends, name)
end

-- Lets go of what is past, and the set end with its last member.
local function tidy()
  redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', whole(now))
  local last = redis.call('ZREVRANGE', KEYS[2], 0, 0, 'WITHSCORES')
  if last[2] then redis.call('PEXPIREAT', KEYS[2], last[2]) end
end
