-- Changes what a user has decided that others see, and publishes it. Placed after presence_record.
--
-- KEYS     1 presence:{USER}, also the channel, 2 person:{USER}, 3 events (absent: events are off)
-- ARGV     1 user, 2 patch (what is not named stays), settings (settings that are not named go) or all (blocks too),
--          3 how many events to keep, 4 how many fields of the person the caller knows, 5… these, each with its value, then the
--          changes: each field with its value, an empty one removes it; of a block, any other sets it
-- Reply    { TIME, ok or limit, { the person's fields and values }, the incarnations of the user's devices… }
--          limit: there would be too many blocks; nothing has changed

local user, kind = ARGV[1], ARGV[2]
local SETTINGS = { 'availability', 'emoji', 'last_seen', 'presence', 'text', 'until' } -- Person.Field.settings
local BLOCKS_MOST = 1000 -- Person.mostBlocked

-- This write changes nothing and is allowed at maxmemory. Redis then allows all further writes of the script.
redis.call('HDEL', KEYS[2], '')

-- Pairs, as a table by field.
local function by_field(list, first, last)
  local fields = {}
  for i = first, last, 2 do fields[list[i]] = list[i + 1] end
  return fields
end

local function is_block(field) return string.sub(field, 1, 6) == 'block:' end

local function hides(person) return person.presence == 'nobody' or person.availability == 'invisible' end

local fields = redis.call('HGETALL', KEYS[2])
local stored = by_field(fields, 1, #fields)
local changes_from = 5 + 2 * ARGV[4]
local known = by_field(ARGV, 5, changes_from - 1)
local changes = by_field(ARGV, changes_from, #ARGV)
-- What Redis has lost comes back under the revision that it had: another worker may know a later one.
local is_restored = number(known.revision) > number(stored.revision)
local before = is_restored and known or stored
local person = {}
for field, value in pairs(before) do person[field] = value end

local changed_blocks, block = 0, nil
local function change(field, value)
  if is_block(field) and (person[field] ~= nil) ~= (value ~= nil) then
    changed_blocks, block = changed_blocks + 1, field
  end
  person[field] = value
end

if kind ~= 'patch' or next(changes) then
  -- What `until` ended is noted by the next change.
  local ends = number(person['until'])
  if ends > 0 and ends <= now then
    if person.availability == 'invisible' then
      person.unseen = whole(math.max(not_ahead(number(person.unseen)), ends))
    end
    for _, field in ipairs({ 'availability', 'text', 'emoji', 'until' }) do change(field, nil) end
  end
  local was_hidden = hides(person)
  for field in pairs(before) do
    if kind == 'all' and is_block(field) and not changes[field] then change(field, nil) end
  end
  for _, field in ipairs(kind ~= 'patch' and SETTINGS or {}) do change(field, nil) end
  for field, value in pairs(changes) do
    if value == '' then
      change(field, nil)
    elseif not is_block(field) then
      change(field, value)
    elseif not person[field] then
      change(field, whole(now))
    end
  end
  if was_hidden and not hides(person) then person.unseen = whole(now) end
end

local count, differs = 0, false
for field, value in pairs(person) do
  if is_block(field) then count = count + 1 end
  if before[field] ~= value then differs = true end
end
for field in pairs(before) do
  if person[field] == nil then differs = true end
end

local record = read_record()
local reply = { now, 'ok', {} }
if differs and count > BLOCKS_MOST and changed_blocks > 0 then
  person, differs, is_restored, reply[2] = stored, false, false, 'limit'
end

local function publish(blocks_before)
  local settings = {}
  for _, field in ipairs(SETTINGS) do
    local value = person[field]
    if value then
      settings[#settings + 1] = '"' .. field .. '":' .. (field == 'until' and whole(number(value)) or cjson.encode(value))
    end
  end
  if KEYS[3] and differs then
    append(KEYS[3], ARGV[3], 'type', 'person', 'user', user, 'revision', person.revision, 'settings',
      '{' .. table.concat(settings, ',') .. '}', 'at', whole(now))
  end
  if person.unseen then settings[#settings + 1] = '"unseen":' .. whole(number(person.unseen)) end
  settings[#settings + 1] = '"blocks":' .. whole(number(person.blocks))
  settings[#settings + 1] = '"revision":' .. person.revision
  local told = ''
  if changed_blocks == 1 then
    told = ',"' .. (person[block] and 'block' or 'unblock') .. '":' .. cjson.encode(string.sub(block, 7)) .. ',"was":'
      .. whole(blocks_before)
  end
  redis.call('PUBLISH', KEYS[1], '{"user":' .. cjson.encode(user) .. ',"person":{' .. table.concat(settings, ',') .. '}'
    .. told .. ',"at":' .. whole(now) .. '}')
end

if differs or is_restored then
  local blocks = number(person.blocks)
  -- Greater than any that was known, also where the hash was lost and the clock set back.
  if differs then person.revision = whole(math.max(number(person.revision) + 1, record.person + 1, now)) end
  if changed_blocks > 0 then person.blocks = person.revision end
  redis.call('DEL', KEYS[2])
  for field, value in pairs(person) do redis.call('HSET', KEYS[2], field, value) end
  if record.version > 0 then redis.call('HSET', KEYS[1], 'person', person.revision) end
  publish(blocks)
end

for field, value in pairs(person) do
  reply[3][#reply[3] + 1], reply[3][#reply[3] + 2] = field, value
end
local is_named = {}
for _, device in pairs(record.devices) do
  if device.state ~= 'gone' and not is_named[device.incarnation] then
    is_named[device.incarnation] = true
    reply[#reply + 1] = device.incarnation
  end
end
return reply
