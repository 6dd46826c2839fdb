/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _ASM_MMZONE_H
#define _ASM_MMZONE_H
extern struct pglist_data *node_data[];
#undef NODE_DATA
#define NODE_DATA(node)	(node_data[node])
#endif
