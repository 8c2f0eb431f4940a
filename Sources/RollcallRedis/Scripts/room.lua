-- Reads a conversation's current state: whether a user is a member, the typists and the members. Writes nothing.
--
-- KEYS     1 members:{CONVERSATION}, 2 typing:{CONVERSATION}
-- ARGV     1 user (may be empty), 2 conversations.default, 3 1 to read the typists, 4 the most members to read,
--          5 typing.expiry in milliseconds
-- Reply    { TIME; managed, 0 or 1; the user is a member, 0 or 1;
--          for each typist USER DEVICE, the expiry, and the user's name or null; the fields and values of members,
--          only some if there are more than ARGV[4]; the number of members }

local BATCH = 1000 -- Lua passes no more than some thousand arguments

local user, default, with_typing, most_members = ARGV[1], ARGV[2], ARGV[3] == '1', tonumber(ARGV[4])
local latest = latest_end(tonumber(ARGV[5]))
local managed, member = membership(KEYS[1], user, default)

local function typists()
  local typing = redis.call('ZRANGEBYSCORE', KEYS[2], '(' .. whole(now), whole(latest), 'WITHSCORES')
  local reply = {}
  for first = 1, #typing, 2 * BATCH do
    local users, last = {}, math.min(first + 2 * BATCH - 1, #typing)
    for i = first, last, 2 do users[#users + 1] = string.match(typing[i], '^[^ ]+') end
    local names = redis.call('HMGET', KEYS[1], unpack(users))
    for i = first, last, 2 do
      reply[#reply + 1] = typing[i]
      reply[#reply + 1] = typing[i + 1]
      reply[#reply + 1] = names[(i - first) / 2 + 1]
    end
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
  now, managed and 1 or 0, user ~= '' and member and 1 or 0,
  with_typing and typists() or {},
  members(most_members),
  managed and member_count(KEYS[1]) or 0,
}
