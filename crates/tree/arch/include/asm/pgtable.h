/* SPDX-License-Identifier: GPL-2.0-only */
/* Page tables that no hardware walks: just enough for headers to compile. */
#ifndef _ASM_PGTABLE_H
#define _ASM_PGTABLE_H
#include <linux/version.h>
#include <asm/page.h>
#include <asm-generic/pgtable-nopmd.h>

#define PGDIR_SHIFT	21
#define PGDIR_SIZE	(1UL << PGDIR_SHIFT)
#define PGDIR_MASK	(~(PGDIR_SIZE - 1))
#define PTRS_PER_PGD	512
#define PTRS_PER_PTE	512
#define VMALLOC_START	0xffff000000000000UL
#define VMALLOC_END	0xffff7fffffffffffUL
#define PAGE_NONE	__pgprot(0)
#define PAGE_READONLY	__pgprot(1)
#define PAGE_COPY	__pgprot(1)
#define PAGE_SHARED	__pgprot(1)
#define PAGE_KERNEL	__pgprot(1)

#ifndef __ASSEMBLY__
extern pgd_t swapper_pg_dir[PTRS_PER_PGD];
#if LINUX_VERSION_CODE < KERNEL_VERSION(7, 0, 0)
extern unsigned long empty_zero_page[];
#define ZERO_PAGE(address)	virt_to_page(empty_zero_page)
#endif
#define pgd_ERROR(e)	do { } while (0)
#define PFN_PTE_SHIFT	PAGE_SHIFT

enum { SC_PRESENT = 1, SC_YOUNG = 2, SC_DIRTY = 4, SC_WRITE = 8 };
#define pte_none(p)	(pte_val(p) == 0)
#define pte_present(p)	(pte_val(p) & SC_PRESENT)
#define pte_young(p)	(pte_val(p) & SC_YOUNG)
#define pte_dirty(p)	(pte_val(p) & SC_DIRTY)
#define pte_write(p)	(pte_val(p) & SC_WRITE)
#define pte_pfn(p)	(pte_val(p) >> PAGE_SHIFT)
#define pte_page(p)	pfn_to_page(pte_pfn(p))
#define pfn_pte(pfn, prot)	__pte(((pfn) << PAGE_SHIFT) | pgprot_val(prot))
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 16, 0)
#define mk_pte(page, prot)	pfn_pte(page_to_pfn(page), prot)
#endif
#define set_pte(to, p)	(*(to) = (p))
#define pte_clear(mm, address, p)	(pte_val(*(p)) = 0)
static inline pte_t pte_mkold(pte_t p) { p.pte &= ~SC_YOUNG; return p; }
static inline pte_t pte_mkyoung(pte_t p) { p.pte |= SC_YOUNG; return p; }
static inline pte_t pte_mkclean(pte_t p) { p.pte &= ~SC_DIRTY; return p; }
static inline pte_t pte_mkdirty(pte_t p) { p.pte |= SC_DIRTY; return p; }
static inline pte_t pte_wrprotect(pte_t p) { p.pte &= ~SC_WRITE; return p; }
static inline pte_t pte_mkwrite_novma(pte_t p) { p.pte |= SC_WRITE; return p; }
static inline pte_t pte_modify(pte_t p, pgprot_t prot) { return p; }
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 6, 0)
#define set_pte_at(mm, address, to, p)	set_pte(to, p)
#define pte_mkwrite	pte_mkwrite_novma
#endif
#define pmd_none(p)	(pmd_val(p) == 0)
#define pmd_present(p)	(pmd_val(p) & SC_PRESENT)
#define pmd_bad(p)	0
#define pmd_clear(p)	(pmd_val(*(p)) = 0)
#define set_pmd(to, p)	(*(to) = (p))
#define pmd_pfn(p)	(pmd_val(p) >> PAGE_SHIFT)
#define pmd_page(p)	pfn_to_page(pmd_pfn(p))
#define pmd_page_vaddr(p)	((unsigned long)(pmd_val(p) & PAGE_MASK))
#define __swp_type(s)	((s).val & 0x1f)
#define __swp_offset(s)	((s).val >> 8)
#define __swp_entry(type, offset)	((swp_entry_t) { (type) | ((offset) << 8) })
#define __pte_to_swp_entry(p)	((swp_entry_t) { pte_val(p) })
#define __swp_entry_to_pte(x)	((pte_t) { (x).val })
#define __HAVE_ARCH_PTE_SWP_EXCLUSIVE
static inline int pte_swp_exclusive(pte_t p) { return 0; }
static inline pte_t pte_swp_mkexclusive(pte_t p) { return p; }
static inline pte_t pte_swp_clear_exclusive(pte_t p) { return p; }
#define update_mmu_cache(vma, address, p)	do { } while (0)
#define update_mmu_cache_range(vmf, vma, address, p, nr)	do { } while (0)
#endif
#endif
