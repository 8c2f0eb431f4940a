// The words of all languages.
#pragma once

/// Returns words.js, a JSON array after `export default `, which ends with a zero byte.
const char *words_json(void);
