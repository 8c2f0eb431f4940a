// The files of the module for browsers, in the order of their names.
#pragma once

/// Returns a file's text, by its number in the list of CModule.c.
const char *browser_file(int number);
