-- Reads a conversation's current state: which users are members, the typists, the members and who is here. Writes nothing.
--
-- KEYS     1 members:{CONVERSATION}, 2 typing:{CONVERSATION}, 3 typing:{CONVERSATION}: without a user,
--          4 here:{CONVERSATION}, 5 here:{CONVERSATION}:since or, with 0 in ARGV[4], 4 access:{CONVERSATION},
--          5 access:{CONVERSATION}:people (both absent: neither)
-- ARGV     1 1 to read the typists, 2 the most members to read, 3 typing.expiry in milliseconds,
--          with KEYS[4] the most users who are here, or 0, then users
-- Reply    { TIME; managed, 0 or 1; for each user whether it is a member, 0 or 1;
--          for each typist USER DEVICE, the expiry, the user's name or null, and the kind or null; the fields and values of
--          members, only some if there are more than ARGV[2]; the number of members;
--          if asked, the number of users who are here, and of each of the first, the longest here first, the user, since when,
--          and the lines or null; of access the people or null, the mark of all or null, and of each user the score and the mark
--          or null }

local BATCH = 1000 -- Lua passes no more than some thousand arguments

local latest = latest_end(tonumber(ARGV[3]))
local managed = redis.call('HEXISTS', KEYS[1], '{managed}') == 1

-- Returns what `read` answers for these words from this index on, false for each that is not there.
local function read_each(words, start, read)
  local values = {}
  for first = start, #words, BATCH do
    local last = math.min(first + BATCH - 1, #words)
    local found = read(unpack(words, first, last))
    for i = 1, last - first + 1 do values[#values + 1] = found[i] or false end
  end
  return values
end

-- Of a foreign key, no field is there.
local function names_of_members(...) return redis.pcall('HMGET', KEYS[1], ...) end
local function strings(...) return redis.call('MGET', ...) end

local function are_members()
  local reply = read_each(ARGV, KEYS[4] and 5 or 4, names_of_members)
  for i, name in ipairs(reply) do reply[i] = name and 1 or 0 end
  return reply
end

local function typists()
  local typing = redis.call('ZRANGEBYSCORE', KEYS[2], '(' .. whole(now), whole(latest), 'WITHSCORES')
  local users, keys, devices, reply = {}, {}, {}, {}
  for i = 1, #typing, 2 do
    local user, device = string.match(typing[i], '^([^ ]+) ?(.*)$')
    users[#users + 1], keys[#keys + 1], devices[#devices + 1] = user, KEYS[3] .. user, device
  end
  local names = read_each(users, 1, names_of_members)
  for i, text in ipairs(read_each(keys, 1, strings)) do
    local words, says = split_typing(text or '')
    local device = words ~= devices[i] and take(read_typing(words), devices[i])
    local n = 4 * i
    reply[n - 3], reply[n - 2] = typing[2 * i - 1], typing[2 * i]
    reply[n - 1] = names[i] and names[i] ~= '' and names[i] or says or false
    reply[n] = device and device.kind or false
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

-- Of a foreign key, nobody is admitted.
local function access()
  local function text(value) return type(value) ~= 'table' and value or false end
  local function score(member) return text(redis.pcall('ZSCORE', KEYS[4], member)) end
  local reply = { text(redis.pcall('GET', KEYS[5])), score(' ') }
  for i = 5, #ARGV do
    reply[2 * i - 7], reply[2 * i - 6] = score(ARGV[i]), score(' ' .. ARGV[i])
  end
  return reply
end

-- Of a foreign key, nobody is here.
local function here()
  if not KEYS[4] then return nil end
  if ARGV[4] == '0' then return access() end
  local users, reply = {}, { redis.pcall('HLEN', KEYS[4]) }
  local first = redis.pcall('ZRANGE', KEYS[5], 0, ARGV[4] - 1, 'WITHSCORES')
  if type(reply[1]) ~= 'number' or first.err then return { 0 } end
  for i = 1, #first, 2 do users[#users + 1] = first[i] end
  for i, lines in ipairs(read_each(users, 1, function(...) return redis.call('HMGET', KEYS[4], ...) end)) do
    local n = 3 * i
    reply[n - 1], reply[n], reply[n + 1] = users[i], whole(not_ahead(tonumber(first[2 * i]))), lines
  end
  return reply
end

return {
  now, managed and 1 or 0, are_members(),
  ARGV[1] == '1' and typists() or {},
  members(tonumber(ARGV[2])),
  managed and member_count(KEYS[1]) or 0,
  here(),
}
