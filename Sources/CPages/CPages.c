#include "CPages.h"

#include <string.h>

static const unsigned char live_file_texts[] = {
#embed "../RollcallWorker/Live/live.html" suffix(, 0,)
#embed "../RollcallWorker/Live/live.css" suffix(, 0,)
#embed "../RollcallWorker/Live/live.js" suffix(, 0,)
#embed "../RollcallWorker/Live/icon.svg" suffix(, 0,)
};

const char *live_file(int number) {
    const char *text = (const char *)live_file_texts;
    while (number-- > 0) text += strlen(text) + 1;
    return text;
}

static const unsigned char demo_file_texts[] = {
#embed "../rollcall/Demo/index.html" suffix(, 0,)
#embed "../rollcall/Demo/demo.css" suffix(, 0,)
#embed "../rollcall/Demo/demo.js" suffix(, 0,)
#embed "../rollcall/Demo/chat.js" suffix(, 0,)
#embed "../rollcall/Demo/crowd.js" suffix(, 0,)
#embed "../rollcall/Demo/device.js" suffix(, 0,)
#embed "../rollcall/Demo/lab.js" suffix(, 0,)
#embed "../rollcall/Demo/language.js" suffix(, 0,)
#embed "../rollcall/Demo/screen.js" suffix(, 0,)
#embed "../rollcall/Demo/icon.svg" suffix(, 0,)
};

const char *demo_file(int number) {
    const char *text = (const char *)demo_file_texts;
    while (number-- > 0) text += strlen(text) + 1;
    return text;
}
