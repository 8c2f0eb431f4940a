-- Shared by typing_signal and typing_stop, after time.lua and typing_end.lua: stores and publishes where a user types.
-- KEYS[1] is typing:{CONVERSATION}:USER, KEYS[2] is typing:{CONVERSATION}, also the channel, KEYS[4] is
-- kinds:{CONVERSATION}, and ARGV[4] is typing.expiry in milliseconds.

local longest = tonumber(ARGV[4])
local latest = latest_end(longest)

-- Returns those of the named devices on which the user is still typing: `name` and `ends` of each, the latest end
-- first.
local function still_typing(user, names)
  local devices = {}
  for _, name in ipairs(names) do
    local ends = tonumber(redis.call('ZSCORE', KEYS[2], user .. ' ' .. name) or 0)
    if ends > now and ends <= latest then devices[#devices + 1] = { name = name, ends = ends } end
  end
  table.sort(devices, function(left, right)
    if left.ends == right.ends then return left.name < right.name end
    return left.ends > right.ends
  end)
  return devices
end

-- Returns the devices in the string except `device`, or all of them if `device` is nil.
local function others(string_before, device)
  local names = {}
  for name in string.gmatch(string_before, '[^ ]+') do
    if name ~= device then names[#names + 1] = name end
  end
  return names
end

local function tell_typing(user, ends, name, kind)
  redis.call('PUBLISH', KEYS[2], '{"user":' .. cjson.encode(user) .. ',"typing":true,"expires_in":' .. whole(ends - now)
    .. ',"at":' .. whole(now) .. (name and ',"name":' .. cjson.encode(name) or '')
    .. (kind and ',"kind":' .. cjson.encode(kind) or '') .. '}')
end

-- Returns the kind of what a device does until `ends`; nil for typing. A kind that was stored with another end is of an
-- earlier signal. A foreign key costs the kind, and nothing else.
local function kind_of(user, device, ends)
  local stored = redis.pcall('HGET', KEYS[4], user .. ' ' .. device)
  local kind, stored_ends = string.match(type(stored) == 'string' and stored or '', '^(%a+) (%d+)$')
  return tonumber(stored_ends) == ends and kind or nil
end

-- Stores a kind other than typing. No kind ends after the hash.
local function store_kind(user, device, kind, ends)
  local stored = redis.pcall('HSET', KEYS[4], user .. ' ' .. device, kind .. ' ' .. whole(ends))
  if type(stored) == 'number' then redis.call('PEXPIRE', KEYS[4], whole(longest)) end
end

-- Updates the string to match the sorted set, for a user who types on at least one device, and publishes the typing.
local function store_typing(user, devices, name)
  local names = {}
  for i, device in ipairs(devices) do names[i] = device.name end
  redis.call('SET', KEYS[1], table.concat(names, ' '), 'PX', whole(devices[1].ends - now))
  tell_typing(user, devices[1].ends, name, kind_of(user, devices[1].name, devices[1].ends))
end

-- Removes entries that have ended, or that are from before the clock was set back. Signals leave them: they have the most to
-- do, and whoever reads ignores such entries.
local function tidy()
  redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', whole(now))
  redis.call('ZREMRANGEBYSCORE', KEYS[2], '(' .. whole(latest), '+inf')
end
