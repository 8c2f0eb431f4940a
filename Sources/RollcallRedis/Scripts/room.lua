-- Reads a conversation's current state: which users are members, the typists and the members. Writes nothing.
--
-- KEYS     1 members:{CONVERSATION}, 2 typing:{CONVERSATION}
-- ARGV     1 1 to read the typists, 2 the most members to read, 3 typing.expiry in milliseconds, 4… users
-- Reply    { TIME; managed, 0 or 1; for each user whether it is a member, 0 or 1;
--          for each typist USER DEVICE, the expiry, and the user's name or null; the fields and values of members,
--          only some if there are more than ARGV[2]; the number of members }

local BATCH = 1000 -- Lua passes no more than some thousand arguments

local latest = latest_end(tonumber(ARGV[3]))
local managed = redis.call('HEXISTS', KEYS[1], '{managed}') == 1

-- Returns the display names of the users from this index on, false for each that is no member.
local function names_of(users, start)
  local names = {}
  for first = start, #users, BATCH do
    local last = math.min(first + BATCH - 1, #users)
    for _, name in ipairs(redis.call('HMGET', KEYS[1], unpack(users, first, last))) do names[#names + 1] = name end
  end
  return names
end

local function are_members()
  local reply = names_of(ARGV, 4)
  for i, name in ipairs(reply) do reply[i] = name and 1 or 0 end
  return reply
end

local function typists()
  local typing = redis.call('ZRANGEBYSCORE', KEYS[2], '(' .. whole(now), whole(latest), 'WITHSCORES')
  local users, reply = {}, {}
  for i = 1, #typing, 2 do users[#users + 1] = string.match(typing[i], '^[^ ]+') end
  for i, name in ipairs(names_of(users, 1)) do
    for _, word in ipairs({ typing[2 * i - 1], typing[2 * i], name }) do reply[#reply + 1] = word end
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
