-- Notes what an app's server answered about who may join a conversation, or drops what it had answered.
--
-- KEYS     1 access:{CONVERSATION}, 2 access:{CONVERSATION}:people, 3 members:{CONVERSATION}, only as the channel
-- ARGV     1 allow, deny or drop, 2 the user; empty for all, to drop, 3 when the question was sent, 4 for how long it is allowed,
--          in milliseconds, 5 the people, separated by spaces; absent: as they were
-- Reply    { TIME, when something was dropped: only if later than a second before the question, whose answer counts for nothing }

local action, user = ARGV[1], ARGV[2]
local access_memory = 90000000 -- 25 h: longer than any admission lasts

-- A drop leaves a mark, ' USER' or ' ' for all, with a score that ends like an admission's.
local function dropped(mark)
  local score = redis.call('ZSCORE', KEYS[1], mark)
  return score and tonumber(score) <= now + access_memory and score - access_memory or 0
end

local function keep(key)
  redis.call('PEXPIRE', key, whole(access_memory))
end

-- Stores the people and publishes that they changed.
local function store_people(people)
  if (redis.call('GET', KEYS[2]) or '') ~= people then
    if people == '' then redis.call('DEL', KEYS[2]) else redis.call('SET', KEYS[2], people, 'PX', whole(access_memory)) end
    redis.call('PUBLISH', KEYS[3], '{"people":true}')
  end
end

-- Removes the user from the people.
local function remove_person()
  local left = {}
  for word in string.gmatch(redis.call('GET', KEYS[2]) or '', '[^ ]+') do
    if word ~= user then left[#left + 1] = word end
  end
  store_people(table.concat(left, ' '))
end

redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', whole(now))

if action == 'drop' then
  if user == '' then redis.call('DEL', KEYS[1]) else redis.call('ZREM', KEYS[1], user) end
  redis.call('ZADD', KEYS[1], whole(now + access_memory), ' ' .. user)
  keep(KEYS[1])
  if user == '' then store_people('') else remove_person() end
  redis.call('PUBLISH', KEYS[3], '{"ask":' .. (user == '' and 'true' or cjson.encode(user)) .. '}')
  return { now }
end

local last = math.max(dropped(' ' .. user), dropped(' '))
if tonumber(ARGV[3]) < last + 1000 then return { now, last } end

if action == 'deny' then
  if redis.call('ZREM', KEYS[1], user) == 1 then
    remove_person()
    -- Other workers may have the user in the conversation.
    redis.call('PUBLISH', KEYS[3], '{"ask":' .. cjson.encode(user) .. '}')
  end
  return { now }
end

redis.call('ZADD', KEYS[1], whole(now + ARGV[4]), user)
keep(KEYS[1])
if ARGV[5] then store_people(ARGV[5]) end
if redis.call('EXISTS', KEYS[2]) == 1 then keep(KEYS[2]) end
return { now }
