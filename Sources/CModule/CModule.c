#include "CModule.h"

#include <string.h>

static const unsigned char browser_file_texts[] = {
#embed "../RollcallBrowser/Module/attention.js" suffix(, 0,)
#embed "../RollcallBrowser/Module/client.js" suffix(, 0,)
#embed "../RollcallBrowser/Module/connection.js" suffix(, 0,)
#embed "../RollcallBrowser/Module/engine.js" suffix(, 0,)
#embed "../RollcallBrowser/Module/here.js" suffix(, 0,)
#embed "../RollcallBrowser/Module/messages.js" suffix(, 0,)
#embed "../RollcallBrowser/Module/names.js" suffix(, 0,)
#embed "../RollcallBrowser/Module/outbox.js" suffix(, 0,)
#embed "../RollcallBrowser/Module/page.js" suffix(, 0,)
#embed "../RollcallBrowser/Module/people.js" suffix(, 0,)
#embed "../RollcallBrowser/Module/person.js" suffix(, 0,)
#embed "../RollcallBrowser/Module/react.d.ts" suffix(, 0,)
#embed "../RollcallBrowser/Module/react.js" suffix(, 0,)
#embed "../RollcallBrowser/Module/rollcall.d.ts" suffix(, 0,)
#embed "../RollcallBrowser/Module/rollcall.js" suffix(, 0,)
#embed "../RollcallBrowser/Module/room.js" suffix(, 0,)
#embed "../RollcallBrowser/Module/route.js" suffix(, 0,)
#embed "../RollcallBrowser/Module/subscriptions.js" suffix(, 0,)
#embed "../RollcallBrowser/Module/testing.d.ts" suffix(, 0,)
#embed "../RollcallBrowser/Module/testing.js" suffix(, 0,)
#embed "../RollcallBrowser/Module/texts.js" suffix(, 0,)
#embed "../RollcallBrowser/Module/token.js" suffix(, 0,)
#embed "../RollcallBrowser/Module/typing.js" suffix(, 0,)
#embed "../RollcallBrowser/Module/updates.js" suffix(, 0,)
#embed "../RollcallBrowser/Module/words.d.ts" suffix(, 0,)
#embed "../RollcallBrowser/Module/words.js" suffix(, 0,)
};

const char *browser_file(int number) {
    const char *text = (const char *)browser_file_texts;
    while (number-- > 0) text += strlen(text) + 1;
    return text;
}
