#include "CPages.h"

#include <string.h>

static const unsigned char live_file_texts[] = {
#embed "../RollcallWorker/Live/asker.js" suffix(, 0,)
#embed "../RollcallWorker/Live/chart.js" suffix(, 0,)
#embed "../RollcallWorker/Live/charts.css" suffix(, 0,)
#embed "../RollcallWorker/Live/dom.js" suffix(, 0,)
#embed "../RollcallWorker/Live/figures.js" suffix(, 0,)
#embed "../RollcallWorker/Live/history.js" suffix(, 0,)
#embed "../RollcallWorker/Live/icon.svg" suffix(, 0,)
#embed "../RollcallWorker/Live/live.css" suffix(, 0,)
#embed "../RollcallWorker/Live/live.html" suffix(, 0,)
#embed "../RollcallWorker/Live/live.js" suffix(, 0,)
#embed "../RollcallWorker/Live/lookup.js" suffix(, 0,)
#embed "../RollcallWorker/Live/tables.js" suffix(, 0,)
#embed "../RollcallWorker/Live/words.js" suffix(, 0,)
};

const char *live_file(int number) {
    const char *text = (const char *)live_file_texts;
    while (number-- > 0) text += strlen(text) + 1;
    return text;
}

static const unsigned char demo_file_texts[] = {
#embed "../rollcall/Demo/demo.js" suffix(, 0,)
#embed "../rollcall/Demo/icon.svg" suffix(, 0,)
#embed "../rollcall/Demo/index.html" suffix(, 0,)
#embed "../rollcall/Demo/model/bot.js" suffix(, 0,)
#embed "../rollcall/Demo/model/chat.js" suffix(, 0,)
#embed "../rollcall/Demo/model/crowd.js" suffix(, 0,)
#embed "../rollcall/Demo/model/device.js" suffix(, 0,)
#embed "../rollcall/Demo/model/language.js" suffix(, 0,)
#embed "../rollcall/Demo/model/memory.js" suffix(, 0,)
#embed "../rollcall/Demo/model/network.js" suffix(, 0,)
#embed "../rollcall/Demo/model/pace.js" suffix(, 0,)
#embed "../rollcall/Demo/model/people.js" suffix(, 0,)
#embed "../rollcall/Demo/model/settings.js" suffix(, 0,)
#embed "../rollcall/Demo/model/story.js" suffix(, 0,)
#embed "../rollcall/Demo/model/timeline.js" suffix(, 0,)
#embed "../rollcall/Demo/model/words.js" suffix(, 0,)
#embed "../rollcall/Demo/parts.js" suffix(, 0,)
#embed "../rollcall/Demo/styles/bubbles.css" suffix(, 0,)
#embed "../rollcall/Demo/styles/chat.css" suffix(, 0,)
#embed "../rollcall/Demo/styles/colours.css" suffix(, 0,)
#embed "../rollcall/Demo/styles/controls.css" suffix(, 0,)
#embed "../rollcall/Demo/styles/device.css" suffix(, 0,)
#embed "../rollcall/Demo/styles/lab.css" suffix(, 0,)
#embed "../rollcall/Demo/styles/page.css" suffix(, 0,)
#embed "../rollcall/Demo/styles/typing.css" suffix(, 0,)
#embed "../rollcall/Demo/views/appearance.js" suffix(, 0,)
#embed "../rollcall/Demo/views/avatar.js" suffix(, 0,)
#embed "../rollcall/Demo/views/bubbles.js" suffix(, 0,)
#embed "../rollcall/Demo/views/commands.js" suffix(, 0,)
#embed "../rollcall/Demo/views/controls.js" suffix(, 0,)
#embed "../rollcall/Demo/views/deployment.js" suffix(, 0,)
#embed "../rollcall/Demo/views/frame.js" suffix(, 0,)
#embed "../rollcall/Demo/views/header.js" suffix(, 0,)
#embed "../rollcall/Demo/views/screen.js" suffix(, 0,)
#embed "../rollcall/Demo/views/speaker.js" suffix(, 0,)
#embed "../rollcall/Demo/views/steps.js" suffix(, 0,)
#embed "../rollcall/Demo/views/told.js" suffix(, 0,)
#embed "../rollcall/Demo/views/typing-row.js" suffix(, 0,)
#embed "../rollcall/Demo/views/wire.js" suffix(, 0,)
};

const char *demo_file(int number) {
    const char *text = (const char *)demo_file_texts;
    while (number-- > 0) text += strlen(text) + 1;
    return text;
}
