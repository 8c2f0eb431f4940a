#include "CWords.h"

static const unsigned char text[] = {
#embed "../RollcallBrowser/Module/words.js" suffix(, 0)
};

const char *words_json(void) { return (const char *)text; }
