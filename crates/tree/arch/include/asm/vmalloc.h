/* SPDX-License-Identifier: GPL-2.0-only */
/* Nothing to add to the generic header. */
