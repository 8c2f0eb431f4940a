// The words of all languages, to copy one and change it: see `addLanguage` and `changeWords`.

import type { LanguageWords } from "./rollcall.js";
declare const words: LanguageWords[];
export default words;
