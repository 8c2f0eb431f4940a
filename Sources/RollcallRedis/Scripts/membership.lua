-- Shared by scripts that read memberships; `members` is the key members:{CONVERSATION}.

-- Returns whether the conversation is managed, whether the user is a member (by `default`, open or closed, if it is not
-- managed), and the user's display name, if there is one.
local function membership(members, user, default)
  local found = redis.call('HMGET', members, '{managed}', user)
  if not found[1] then return false, default == 'open' end
  return true, found[2] ~= false, found[2] ~= '' and found[2] or nil
end

-- Returns the number of members of a managed conversation.
local function member_count(members)
  return redis.call('HLEN', members) - 1
end
