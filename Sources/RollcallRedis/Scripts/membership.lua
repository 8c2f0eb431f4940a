-- Shared by what asks who is a member of a conversation: `members` is the key members:{CONVERSATION}.

-- Whether the conversation is managed, whether the user is a member (`default`, open or closed, decides where it is
-- not managed), and the display name, if the members have one.
local function membership(members, user, default)
  local found = redis.call('HMGET', members, '{managed}', user)
  if not found[1] then return false, default == 'open' end
  return true, found[2] ~= false, found[2] ~= '' and found[2] or nil
end

-- How many belong to a managed conversation.
local function member_count(members)
  return redis.call('HLEN', members) - 1
end
