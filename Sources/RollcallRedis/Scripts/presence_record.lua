-- Shared by device_write, sweep_device and user_erase, after time.lua and events.lua: reads and writes the hash presence:{USER}
-- (KEYS[1]). Fields not named here, and words after a device's sixth, belong to other versions and are kept.

local GONE_KEPT = 600000 -- how long a device that is gone still counts for the order of sessions, in milliseconds
local PROFILE = { 'name' } -- what tokens say of their user: `Profile.fields` has the same names
local GONE_MOST = 32 -- of how many at most: every device makes each read and write of its user dearer

-- Parses STATE INCARNATION SESSION SEQ SINCE LOST and any further words; returns nil for other texts. Only the start of
-- the session may be ahead of the clock: this identifies sessions from before the clock was set back. A STATE of
-- another version counts like background: the device exists, and says nothing about the user.
local function parsed(text)
  local state, incarnation, began, random, sequence, since, lost, rest =
    string.match(text, '^([^ ]+) ([^ ]+) (%d+)%-([^ ]+) (%d+) (%d+) (%d+)(.*)$')
  if not state or not (rest == '' or string.sub(rest, 1, 1) == ' ') then return nil end
  return {
    state = state, incarnation = incarnation, began = tonumber(began), random = random,
    sequence = tonumber(sequence), since = not_ahead(tonumber(since)), lost = not_ahead(tonumber(lost)), rest = rest,
  }
end

local function printed(device)
  return device.state .. ' ' .. device.incarnation .. ' ' .. whole(device.began) .. '-' .. device.random .. ' '
    .. whole(device.sequence) .. ' ' .. whole(device.since) .. ' ' .. whole(device.lost) .. device.rest
end

-- Returns what is stored of the user. An absent record has no devices, was never seen, and has version 0.
local function read_record()
  local record = { devices = {}, status = 'offline', last_seen = 0, version = 0, reset = 0, named = 0, person = 0, profile = {}, says = {} }
  local fields = redis.call('HGETALL', KEYS[1])
  for i = 1, #fields, 2 do
    local device = string.match(fields[i], '^device:(.+)$')
    if device then
      record.devices[device] = parsed(fields[i + 1])
    elseif fields[i] == 'last_seen' then
      record.last_seen = not_ahead(number(fields[i + 1]))
    elseif fields[i] == 'version' then
      record.version = number(fields[i + 1])
    elseif fields[i] == 'reset' then
      record.reset = number(fields[i + 1])
    elseif fields[i] == 'person' then
      record.person = number(fields[i + 1])
    elseif fields[i] == 'status' then
      record.status = fields[i + 1]
    elseif fields[i] == 'named' then
      record.named = number(fields[i + 1])
    else
      for _, field in ipairs(PROFILE) do
        if fields[i] == field then record.profile[field] = fields[i + 1] end
      end
    end
  end
  return record
end

-- Returns when the user was last seen on the device, which was connected until `present`; 0 if the device says nothing
-- about the user. For a device that is gone, this is stored in LOST.
local function seen(device, present)
  if device.state == 'gone' then return device.lost end
  if device.state ~= 'active' and device.state ~= 'idle' then return 0 end
  if device.lost ~= 0 then return device.lost end
  return present
end

-- Whether a device affects what observers see. Devices in the background do not.
local function tells(device)
  return device ~= nil and (device.state == 'active' or device.state == 'idle')
end

-- Returns the status that results from the devices, in any order, and how many of them are not gone.
local function status_of(devices)
  local held, count = {}, 0
  for _, device in pairs(devices) do
    held[device.state] = true
    if device.state ~= 'gone' then count = count + 1 end
  end
  return held.active and 'online' or held.idle and 'away' or 'offline', count
end

-- Removes devices that have been gone for too long, and all but the newest of the other gone devices. The device that
-- was just written is kept.
local function drop_the_long_gone(devices, written)
  local gone, most = {}, GONE_MOST
  for name, device in pairs(devices) do
    if device.state == 'gone' then
      if name == written then most = most - 1 else gone[#gone + 1] = name end
    end
  end
  table.sort(gone, function(left, right)
    if devices[left].since == devices[right].since then return left < right end
    return devices[left].since > devices[right].since
  end)
  for i, name in ipairs(gone) do
    if i > most or devices[name].since < now - GONE_KEPT then redis.call('HDEL', KEYS[1], 'device:' .. name) end
  end
end

-- Takes over what a token says of its user, issued at this moment (without a token: when the session began): pairs of fields
-- and texts from this index on. What a later token has said stays.
local function take_profile(record, issued, words, start)
  if not words[start] or issued < not_ahead(record.named) then return end
  local before = #record.says
  for i = start, #words, 2 do
    if record.profile[words[i]] ~= words[i + 1] or record.named ~= issued then
      record.says[#record.says + 1], record.says[#record.says + 2] = words[i], words[i + 1]
    end
    record.profile[words[i]] = words[i + 1]
  end
  if #record.says > before then
    record.says[#record.says + 1], record.says[#record.says + 2] = 'named', whole(issued)
  end
end

-- Notes the revision of the user's person that a worker knows, or that is stored: the record never has an older one.
local function raise_person(record, revision)
  if revision <= record.person then return end
  record.person = revision
  record.says[#record.says + 1], record.says[#record.says + 2] = 'person', whole(revision)
end

-- Publishes the user's presence. `person` is the revision of the user's person: 0 if there is none, null if it was erased.
local function tell(user, status, last_seen, version, count, profile, person)
  local says = person == 0 and '' or ',"person":' .. (person == 'null' and person or whole(person))
  for _, field in ipairs(PROFILE) do
    if profile[field] then says = says .. ',"' .. field .. '":' .. cjson.encode(profile[field]) end
  end
  redis.call('PUBLISH', KEYS[1], '{"user":' .. cjson.encode(user) .. ',"status":"' .. status .. '","last_seen":'
    .. last_seen .. ',"updated_at":' .. whole(now) .. ',"version":' .. whole(version) .. ',"devices":' .. count
    .. ',"at":' .. whole(now) .. says .. '}')
end

-- Writes the record of `user` after its device `name` changed to `device`, on which the user was last seen at
-- `last_seen`, and publishes the presence. `told` says whether others may have seen the device before. A change that
-- nobody sees writes only the device's own field, so that there is nothing to hide. A new record is written whole: Redis
-- may have lost one that others saw. `events` says where to append that the user came or went (stream, keep), and which
-- reset was the last: who is there and was not written since is told again, since a reader may have heard of an absence that
-- Redis has lost, or read the record while its worker seemed dead. Returns the record's version.
local function write_record(record, user, name, device, told, last_seen, retention, events)
  record.devices[name] = device
  drop_the_long_gone(record.devices, name)
  if record.version > 0 and not told and not tells(device) and last_seen <= record.last_seen then
    redis.call('HSET', KEYS[1], 'device:' .. name, printed(device), unpack(record.says))
    return record.version
  end
  local status, count = status_of(record.devices)
  last_seen = math.max(record.last_seen, last_seen)
  -- An emptied Redis starts again at 0, and the clock may be set back. In neither case does a version repeat.
  local version = math.max(record.version + 1, now)

  local rest = last_seen > 0 and { 'last_seen', whole(last_seen) } or {}
  if events.stream and events.reset and record.reset ~= events.reset then
    rest[#rest + 1], rest[#rest + 2] = 'reset', whole(events.reset)
  end
  for _, word in ipairs(record.says) do rest[#rest + 1] = word end
  redis.call('HSET', KEYS[1], 'status', status, 'updated_at', whole(now), 'version', whole(version),
    'device:' .. name, printed(device), unpack(rest))
  if status == 'offline' then
    redis.call('PEXPIRE', KEYS[1], retention)
  else
    redis.call('PERSIST', KEYS[1])
  end
  tell(user, status, last_seen > 0 and whole(last_seen) or 'null', version, count, record.profile,
    record.person)
  local was, is = record.status ~= 'offline', status ~= 'offline'
  if events.stream and (was ~= is or is and events.reset and record.reset ~= events.reset) then
    append_status(events.stream, events.keep, user, status, version, last_seen)
  end
  return version
end
