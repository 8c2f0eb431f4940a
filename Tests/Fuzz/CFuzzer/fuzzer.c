// Nothing of ours: the header names what the compiler's runtime has.

#include "CFuzzer.h"
