#include "CScripts.h"

#include <string.h>

static const unsigned char lua_script_texts[] = {
#embed "../RollcallRedis/Scripts/access_write.lua" suffix(, 0,)
#embed "../RollcallRedis/Scripts/device_write.lua" suffix(, 0,)
#embed "../RollcallRedis/Scripts/events.lua" suffix(, 0,)
#embed "../RollcallRedis/Scripts/events_claim.lua" suffix(, 0,)
#embed "../RollcallRedis/Scripts/events_erase.lua" suffix(, 0,)
#embed "../RollcallRedis/Scripts/heartbeat.lua" suffix(, 0,)
#embed "../RollcallRedis/Scripts/here_line.lua" suffix(, 0,)
#embed "../RollcallRedis/Scripts/here_write.lua" suffix(, 0,)
#embed "../RollcallRedis/Scripts/member_remove.lua" suffix(, 0,)
#embed "../RollcallRedis/Scripts/member_set.lua" suffix(, 0,)
#embed "../RollcallRedis/Scripts/members_delete.lua" suffix(, 0,)
#embed "../RollcallRedis/Scripts/members_replace.lua" suffix(, 0,)
#embed "../RollcallRedis/Scripts/membership.lua" suffix(, 0,)
#embed "../RollcallRedis/Scripts/person_write.lua" suffix(, 0,)
#embed "../RollcallRedis/Scripts/presence_record.lua" suffix(, 0,)
#embed "../RollcallRedis/Scripts/room.lua" suffix(, 0,)
#embed "../RollcallRedis/Scripts/sessions_record.lua" suffix(, 0,)
#embed "../RollcallRedis/Scripts/sweep_claim.lua" suffix(, 0,)
#embed "../RollcallRedis/Scripts/sweep_device.lua" suffix(, 0,)
#embed "../RollcallRedis/Scripts/time.lua" suffix(, 0,)
#embed "../RollcallRedis/Scripts/typing_end.lua" suffix(, 0,)
#embed "../RollcallRedis/Scripts/typing_ended.lua" suffix(, 0,)
#embed "../RollcallRedis/Scripts/typing_server.lua" suffix(, 0,)
#embed "../RollcallRedis/Scripts/typing_set.lua" suffix(, 0,)
#embed "../RollcallRedis/Scripts/typing_signal.lua" suffix(, 0,)
#embed "../RollcallRedis/Scripts/typing_stop.lua" suffix(, 0,)
#embed "../RollcallRedis/Scripts/user_erase.lua" suffix(, 0,)
#embed "../RollcallRedis/Scripts/user_revoke.lua" suffix(, 0,)
#embed "../RollcallRedis/Scripts/worker_forget.lua" suffix(, 0,)
#embed "../RollcallRedis/Scripts/worker_read.lua" suffix(, 0,)
};

const char *lua_script(int number) {
    const char *text = (const char *)lua_script_texts;
    while (number-- > 0) text += strlen(text) + 1;
    return text;
}
