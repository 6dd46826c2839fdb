/* SPDX-License-Identifier: GPL-2.0-only */
/* Memory is the host's; pages have no page frames of ours. */
#ifndef _ASM_PAGE_H
#define _ASM_PAGE_H
#include <linux/const.h>
#include <linux/version.h>
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
#include <vdso/page.h>
#else
#define PAGE_SHIFT	12
#define PAGE_SIZE	(_AC(1, UL) << PAGE_SHIFT)
#define PAGE_MASK	(~(PAGE_SIZE - 1))
#endif
#define HPAGE_SHIFT	21
#define HPAGE_SIZE	(1UL << HPAGE_SHIFT)
#define HPAGE_MASK	(~(HPAGE_SIZE - 1))

#ifndef __ASSEMBLY__
#include <linux/types.h>
struct page;
typedef struct { unsigned long pte; } pte_t;
typedef struct { unsigned long pgd; } pgd_t;
typedef struct { unsigned long pgprot; } pgprot_t;
typedef struct page *pgtable_t;
#define pte_val(x)	((x).pte)
#define pgd_val(x)	((x).pgd)
#define pgprot_val(x)	((x).pgprot)
#define __pte(x)	((pte_t) { (x) })
#define __pgd(x)	((pgd_t) { (x) })
#define __pgprot(x)	((pgprot_t) { (x) })
#define PAGE_OFFSET	0UL
#define __pa(x)		((unsigned long)(x))
#define __va(x)		((void *)(unsigned long)(x))
#define virt_to_pfn(x)	(__pa(x) >> PAGE_SHIFT)
#define pfn_to_virt(x)	__va((x) << PAGE_SHIFT)
#define virt_to_page(x)	pfn_to_page(virt_to_pfn(x))
#define page_to_virt(x)	__va(page_to_pfn(x) << PAGE_SHIFT)
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 14, 0)
#define page_to_phys(x)	(page_to_pfn(x) << PAGE_SHIFT)
#endif
#define virt_addr_valid(x)	1
#define VM_DATA_DEFAULT_FLAGS	VM_DATA_FLAGS_NON_EXEC
#define clear_page(p)	memset((p), 0, PAGE_SIZE)
#define copy_page(to, from)	memcpy((to), (from), PAGE_SIZE)
#define clear_user_page(p, address, page)	clear_page(p)
#define copy_user_page(to, from, address, page)	copy_page(to, from)
#include <asm-generic/memory_model.h>
#include <asm-generic/getorder.h>
#endif
#endif
