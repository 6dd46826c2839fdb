/* SPDX-License-Identifier: GPL-2.0-only */
/* What a flush costs is the cost model's. */
#ifndef _ASM_TLBFLUSH_H
#define _ASM_TLBFLUSH_H
#define flush_tlb_all()				do { } while (0)
#define flush_tlb_mm(mm)			do { } while (0)
#define flush_tlb_page(vma, address)		do { } while (0)
#define flush_tlb_range(vma, from, to)		do { (void)(vma); } while (0)
#define flush_tlb_kernel_range(from, to)	do { } while (0)
#endif
