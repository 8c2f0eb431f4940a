-- Shared by scripts that read who types, after time.lua.

-- Returns the latest time at which typing can end. It allows twice `typing.expiry`, because workers may have different
-- configurations. A later score is from before Redis's clock was set back, and does not count.
local function latest_end(longest)
  return now + 2 * longest
end

-- Splits the string typing:{CONVERSATION}:USER into its words and, after a tab, the name that a token gave the user.
local function split_typing(text)
  local words, says = string.match(text, '^([^\t]*)\t?(.*)$')
  return words, says ~= '' and says or nil
end

-- Returns the devices, `name` and `kind` of each, and the user's name. Only braces at the end hold a kind: {http}MARK keeps
-- its own.
local function read_typing(text)
  local words, says = split_typing(text)
  local devices = {}
  for word in string.gmatch(words, '[^ ]+') do
    local name, kind = string.match(word, '^(.+){(%a+)}$')
    devices[#devices + 1] = { name = name or word, kind = kind }
  end
  return devices, says
end

-- Removes the device of this name, and returns it.
local function take(devices, name)
  for i, device in ipairs(devices) do
    if device.name == name then return table.remove(devices, i) end
  end
end
