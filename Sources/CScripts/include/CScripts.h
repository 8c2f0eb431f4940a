// The Lua scripts of RollcallRedis, in the order of their names.
#pragma once

/// Returns a script's text, by its number in the list of CScripts.c.
const char *lua_script(int number);
