/* SPDX-License-Identifier: GPL-2.0-only */
/* Every symbol stays within the library: it shares a process with libraries that have symbols of the same names. */
#ifndef __ASSEMBLY__
#pragma GCC visibility push(hidden)
#endif
