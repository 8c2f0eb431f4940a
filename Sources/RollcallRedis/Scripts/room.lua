-- Reads a conversation's current state: which users are members, the typists and the members. Writes nothing.
--
-- KEYS     1 members:{CONVERSATION}, 2 typing:{CONVERSATION}, 3 kinds:{CONVERSATION}
-- ARGV     1 1 to read the typists, 2 the most members to read, 3 typing.expiry in milliseconds, 4… users
-- Reply    { TIME; managed, 0 or 1; for each user whether it is a member, 0 or 1;
--          for each typist USER DEVICE, the expiry, the user's name or null, and the kind or null; the fields and values of members,
--          only some if there are more than ARGV[2]; the number of members }

local BATCH = 1000 -- Lua passes no more than some thousand arguments

local latest = latest_end(tonumber(ARGV[3]))
local managed = redis.call('HEXISTS', KEYS[1], '{managed}') == 1

-- Returns the values of these fields from this index on, false for each that is not there. Of a foreign key, none is.
local function fields_of(key, fields, start)
  local values = {}
  for first = start, #fields, BATCH do
    local last = math.min(first + BATCH - 1, #fields)
    local found = redis.pcall('HMGET', key, unpack(fields, first, last))
    for i = 1, last - first + 1 do values[#values + 1] = found[i] or false end
  end
  return values
end

local function are_members()
  local reply = fields_of(KEYS[1], ARGV, 4)
  for i, name in ipairs(reply) do reply[i] = name and 1 or 0 end
  return reply
end

local function typists()
  local typing = redis.call('ZRANGEBYSCORE', KEYS[2], '(' .. whole(now), whole(latest), 'WITHSCORES')
  local users, devices, reply = {}, {}, {}
  for i = 1, #typing, 2 do
    users[#users + 1] = string.match(typing[i], '^[^ ]+')
    devices[#devices + 1] = typing[i]
  end
  local kinds = #devices > 0 and fields_of(KEYS[3], devices, 1) or {}
  for i, name in ipairs(fields_of(KEYS[1], users, 1)) do
    -- A kind that was stored with another end is of an earlier signal.
    local kind, ends = string.match(kinds[i] or '', '^(%a+) (%d+)$')
    kind = ends == typing[2 * i] and kind or false
    for _, word in ipairs({ typing[2 * i - 1], typing[2 * i], name, kind }) do reply[#reply + 1] = word end
  end
  return reply
end

-- The scan ends when it has enough members, so that the cost depends on the number read and not on the conversation's
-- size.
local function members(most)
  if most == 0 or not managed then return {} end
  if member_count(KEYS[1]) <= most then return redis.call('HGETALL', KEYS[1]) end
  local fields, cursor = {}, '0'
  repeat
    local page = redis.call('HSCAN', KEYS[1], cursor, 'COUNT', most)
    cursor = page[1]
    for i = 1, math.min(#page[2], 2 * most - #fields) do fields[#fields + 1] = page[2][i] end
  until cursor == '0' or #fields >= 2 * most
  return fields
end

return {
  now, managed and 1 or 0, are_members(),
  ARGV[1] == '1' and typists() or {},
  members(tonumber(ARGV[2])),
  managed and member_count(KEYS[1]) or 0,
}
