// The files of the live page and of the demo page, each in the order of their paths.
#pragma once

/// Returns a text of the live page, by its number in the list of CPages.c.
const char *live_file(int number);
/// Returns a text of the demo page, by its number in the list of CPages.c.
const char *demo_file(int number);
