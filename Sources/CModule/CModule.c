#include "CModule.h"

#include <string.h>

static const unsigned char browser_file_texts[] = {
#embed "../RollcallBrowser/Module/addresses.js" suffix(, 0,)
#embed "../RollcallBrowser/Module/alarm.js" suffix(, 0,)
#embed "../RollcallBrowser/Module/backoff.js" suffix(, 0,)
#embed "../RollcallBrowser/Module/client.js" suffix(, 0,)
#embed "../RollcallBrowser/Module/connection.js" suffix(, 0,)
#embed "../RollcallBrowser/Module/conversation-state.js" suffix(, 0,)
#embed "../RollcallBrowser/Module/conversation.js" suffix(, 0,)
#embed "../RollcallBrowser/Module/device-state.js" suffix(, 0,)
#embed "../RollcallBrowser/Module/display-name.js" suffix(, 0,)
#embed "../RollcallBrowser/Module/engine.js" suffix(, 0,)
#embed "../RollcallBrowser/Module/errors.js" suffix(, 0,)
#embed "../RollcallBrowser/Module/languages.js" suffix(, 0,)
#embed "../RollcallBrowser/Module/liveness.js" suffix(, 0,)
#embed "../RollcallBrowser/Module/message-budget.js" suffix(, 0,)
#embed "../RollcallBrowser/Module/messages.js" suffix(, 0,)
#embed "../RollcallBrowser/Module/name-cache.js" suffix(, 0,)
#embed "../RollcallBrowser/Module/observations.js" suffix(, 0,)
#embed "../RollcallBrowser/Module/observed-value.js" suffix(, 0,)
#embed "../RollcallBrowser/Module/outbox.js" suffix(, 0,)
#embed "../RollcallBrowser/Module/own-typing.js" suffix(, 0,)
#embed "../RollcallBrowser/Module/presence-fetches.js" suffix(, 0,)
#embed "../RollcallBrowser/Module/presence-text.js" suffix(, 0,)
#embed "../RollcallBrowser/Module/reconnecting.js" suffix(, 0,)
#embed "../RollcallBrowser/Module/rollcall.d.ts" suffix(, 0,)
#embed "../RollcallBrowser/Module/rollcall.js" suffix(, 0,)
#embed "../RollcallBrowser/Module/sender.js" suffix(, 0,)
#embed "../RollcallBrowser/Module/server-clock.js" suffix(, 0,)
#embed "../RollcallBrowser/Module/subscriptions.js" suffix(, 0,)
#embed "../RollcallBrowser/Module/token.js" suffix(, 0,)
#embed "../RollcallBrowser/Module/typing-field.js" suffix(, 0,)
#embed "../RollcallBrowser/Module/typing-input.js" suffix(, 0,)
#embed "../RollcallBrowser/Module/typing-text.js" suffix(, 0,)
#embed "../RollcallBrowser/Module/units.js" suffix(, 0,)
#embed "../RollcallBrowser/Module/updates.js" suffix(, 0,)
#embed "../RollcallBrowser/Module/words.json" suffix(, 0,)
};

const char *browser_file(int number) {
    const char *text = (const char *)browser_file_texts;
    while (number-- > 0) text += strlen(text) + 1;
    return text;
}
