-- Shared by device_write, sweep_device and user_erase, after time.lua: reads and writes the hash presence:{USER}
-- (KEYS[1]). Fields not named here, and words after a device's sixth, belong to other versions and are kept.

local GONE_KEPT = 600000 -- how long a device that is gone still counts for the order of sessions, in milliseconds
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

local function number(text)
  return tonumber(string.match(text, '^%d+$') or 0)
end

-- Returns what is stored of the user. An absent record has no devices, was never seen, and has version 0. `shown_version`
-- and `shown_at` belong to the last change of a device that was or is active or idle. They are the record's own, unless
-- the field `shown` belongs to this version of the record. Earlier versions of Rollcall do not update that field.
local function read_record()
  local record = { devices = {}, last_seen = 0, version = 0, updated_at = 0 }
  local shown
  local fields = redis.call('HGETALL', KEYS[1])
  for i = 1, #fields, 2 do
    local device = string.match(fields[i], '^device:(.+)$')
    if device then
      record.devices[device] = parsed(fields[i + 1])
    elseif fields[i] == 'last_seen' then
      record.last_seen_stored = number(fields[i + 1])
      record.last_seen = not_ahead(record.last_seen_stored)
    elseif fields[i] == 'version' then
      record.version = number(fields[i + 1])
    elseif fields[i] == 'updated_at' then
      record.updated_at = number(fields[i + 1])
    elseif fields[i] == 'shown' then
      shown = fields[i + 1]
    end
  end
  record.has_shown = shown ~= nil
  record.shown_version, record.shown_at = record.version, record.updated_at
  local version, at, of = string.match(shown or '', '^(%d+) (%d+) (%d+)')
  if of and tonumber(of) == record.version then
    record.shown_version, record.shown_at = tonumber(version), tonumber(at)
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

-- Publishes the user's presence. `shown` is the end of the message: nil, or the fields that observers are shown.
local function tell(user, status, last_seen, version, count, shown)
  redis.call('PUBLISH', KEYS[1], '{"user":' .. cjson.encode(user) .. ',"status":"' .. status .. '","last_seen":'
    .. last_seen .. ',"updated_at":' .. whole(now) .. ',"version":' .. whole(version) .. ',"devices":' .. count
    .. ',"at":' .. whole(now) .. (shown or '') .. '}')
end

-- Writes the record of `user` after its device `name` changed to `device`, on which the user was last seen at
-- `last_seen`, and publishes the presence. `told` says whether the device was active or idle before. Returns the new
-- version.
local function write_record(record, user, name, device, told, last_seen, retention)
  record.devices[name] = device
  drop_the_long_gone(record.devices, name)
  local status, count = status_of(record.devices)
  local seen_text = 'null'
  local is_shown = told or tells(device) or last_seen > record.last_seen
  last_seen = math.max(record.last_seen, last_seen)
  -- An emptied Redis starts again at 0, and the clock may be set back. In neither case does a version repeat.
  local version = math.max(record.version + 1, now)

  redis.call('HSET', KEYS[1], 'status', status, 'updated_at', whole(now), 'version', whole(version),
    'device:' .. name, printed(device))
  if last_seen > 0 and is_shown then
    seen_text = whole(last_seen)
    redis.call('HSET', KEYS[1], 'last_seen', seen_text)
  elseif last_seen > 0 then
    -- The stored time stays as it is, even if it is ahead of a clock that was set back.
    seen_text = whole(record.last_seen_stored)
  end
  -- For a user who was never seen, readers show neither a time nor a stored version.
  local shown, since = nil, now
  if is_shown or last_seen == 0 then
    if record.has_shown then redis.call('HDEL', KEYS[1], 'shown') end
  else
    since = not_ahead(record.shown_at)
    redis.call('HSET', KEYS[1], 'shown',
      whole(record.shown_version) .. ' ' .. whole(record.shown_at) .. ' ' .. whole(version))
    shown = ',"shown_at":' .. whole(record.shown_at) .. ',"shown_version":' .. whole(record.shown_version)
  end
  if status == 'offline' then
    -- Background devices do not extend the time for which others see the last seen time. If the record should have
    -- expired already, because the retention was shortened, it expires after a full one.
    if since + retention <= now then since = now end
    redis.call('PEXPIREAT', KEYS[1], whole(since + retention))
  else
    redis.call('PERSIST', KEYS[1])
  end
  tell(user, status, seen_text, version, count, shown)
  return version
end
