// SPDX-License-Identifier: GPL-2.0-only
/* No assembly of ours asks for offsets. */
int sc_no_offsets;
