// SPDX-License-Identifier: GPL-2.0-only
/* sysctls: the tables that the kernel's files register, and their own handlers. There is no /proc around them. */
#include <linux/init.h>
#include <linux/list.h>
#include <linux/slab.h>
#include <linux/sysctl.h>
#include "machine.h"

struct registered {
	struct ctl_table_header header;		/* what the kernel gets to see */
	SC_CONST_TABLE struct ctl_table *table;
	size_t size;				/* entries at most; an entry without a name ends it, too */
	const char *path;			/* that of its entries */
	bool partly;				/* most of it belongs to parts of the kernel that are not here */
	struct registered *next;
};

static struct registered *tables;

static struct registered *registered(const char *path, SC_CONST_TABLE struct ctl_table *table, size_t size)
{
	struct registered *r = sc_host->alloc(sizeof(*r), 64);

	r->path = path;
	r->table = table;
	r->size = size;
	r->next = tables;
	tables = r;
	return r;
}

#if SC_SYSCTL_SIZED
void __register_sysctl_init(const char *path, SC_CONST_TABLE struct ctl_table *table, const char *name, size_t size)
{
	registered(path, table, size);
}
#else
void __register_sysctl_init(const char *path, struct ctl_table *table, const char *name)
{
	registered(path, table, SIZE_MAX);
}
#endif

#if SC_SYSCTL_TREES
static bool setting_up;

struct ctl_table_header *register_sysctl_table(struct ctl_table *table)
{
	struct registered *r = registered("", table, SIZE_MAX);

	r->partly = setting_up;
	return &r->header;
}

int __register_sysctl_base(struct ctl_table *table)
{
	register_sysctl_table(table);
	return 0;
}

void unregister_sysctl_table(struct ctl_table_header *header)
{
	struct registered **at = &tables;

	while (header && *at && &(*at)->header != header)
		at = &(*at)->next;
	if (header && *at)
		*at = (*at)->next;
}
#endif

/* In releases that have it, the table of all sysctls with the scheduler's among them. */
void __init sc_sysctl_setup(void)
{
#if SC_SYSCTL_TREES
	setting_up = true;
	sysctl_init();
	setting_up = false;
#endif
}

/* Who looks at entries until an answer is not 0. */
struct visitor {
	sc_s64 (*visit)(struct visitor *visitor, SC_CONST_TABLE struct ctl_table *entry);
	char path[160];			/* that of the entry */
	const char *wanted, *value;
	char *text;
	sc_u64 size, length;
};

static bool is_here(const struct registered *r, const char *name)
{
	return !r->partly || strstarts(name, "sched_") || !strcmp(name, "timer_migration");
}

static sc_s64 visit_below(struct visitor *visitor, const struct registered *r, SC_CONST_TABLE struct ctl_table *table, size_t size, size_t length)
{
	sc_s64 answer = 0;

	for (; !answer && size && table->procname; table++, size--) {
		size_t end = length + scnprintf(visitor->path + length, sizeof(visitor->path) - length, "%s%s", length ? "." : "", table->procname);

#if SC_SYSCTL_TREES
		/* Further down there are tables of other parts, or nothing where they would be. */
		if (table->child && r->partly && length)
			continue;
		if (table->child) {
			answer = visit_below(visitor, r, table->child, SIZE_MAX, end);
			continue;
		}
#endif
		if (end && table->proc_handler && is_here(r, table->procname))
			answer = visitor->visit(visitor, table);
	}
	return answer;
}

static sc_s64 visit_all(struct visitor *visitor)
{
	const struct registered *r;
	sc_s64 answer = 0;

	for (r = tables; !answer && r; r = r->next) {
		size_t length = strscpy(visitor->path, r->path, sizeof(visitor->path));

		answer = visit_below(visitor, r, r->table, r->size, length);
	}
	return answer;
}

/* Answers 1 when it is done. */
static sc_s64 write_one(struct visitor *visitor, SC_CONST_TABLE struct ctl_table *entry)
{
	size_t length = strlen(visitor->value);
	loff_t at = 0;
	char *value;
	sc_s64 result;

	if (strcmp(visitor->path, visitor->wanted))
		return 0;
	if (!(entry->mode & 0222))
		return -EACCES;
	value = kstrdup(visitor->value, GFP_KERNEL);
	result = entry->proc_handler(entry, 1, value, &length, &at);
	kfree(value);
	return result < 0 ? result : 1;
}

/* Writes `text` to `path`, such as kernel.sched_rt_period_us. */
sc_s64 sc_sysctl_write(const char *path, const char *text)
{
	struct visitor visitor = { .visit = write_one, .wanted = path, .value = text };
	sc_s64 answer = visit_all(&visitor);

	return answer < 0 ? answer : answer ? 0 : -ENOENT;
}

static sc_s64 show_one(struct visitor *visitor, SC_CONST_TABLE struct ctl_table *entry)
{
	char value[64];
	size_t length = sizeof(value);
	loff_t at = 0;

	if (entry->proc_handler(entry, 0, value, &length, &at) < 0)
		return 0;
	visitor->length += scnprintf(visitor->text + visitor->length, visitor->size - visitor->length, "%s = %.*s%s", visitor->path,
				     (int)length, value, length && value[length - 1] == '\n' ? "" : "\n");
	return 0;
}

/* All sysctls and their values, a line each, as far as `size` goes; the length. */
sc_s64 sc_sysctls(char *text, sc_u64 size)
{
	struct visitor visitor = { .visit = show_one, .text = text, .size = size };

	visit_all(&visitor);
	return visitor.length;
}
