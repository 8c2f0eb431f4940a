// The words of all languages.
#pragma once

/// Returns words.json, which ends with a zero byte.
const char *words_json(void);
