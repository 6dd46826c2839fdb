// SPDX-License-Identifier: GPL-2.0-only
/*
 * debugfs as a list of files by path. The kernel's own operations read and write them, so sched/features and what
 * sched/domains shows are as on a machine.
 */
#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include "machine.h"

enum kind { DIRECTORY, FILE_OPERATIONS, YES_OR_NO, NUMBER_32, NUMBER_64, NUMBER_LONG, TEXT };

struct entry {
	char path[160];
	size_t length;
	enum kind kind;
	void *data;
	const struct file_operations *operations;
	struct entry *next;
	struct dentry dentry;
	struct inode inode;
};

static struct entry *entries;

static struct entry *entry_of(struct dentry *dentry)
{
	return dentry ? container_of(dentry, struct entry, dentry) : NULL;
}

static struct dentry *add(const char *name, struct dentry *parent, enum kind kind, void *data, const struct file_operations *ops)
{
	struct entry *e = sc_host->alloc(sizeof(*e), 64), *up = entry_of(parent);

	e->length = scnprintf(e->path, sizeof(e->path), "%s%s%s", up ? up->path : "", up ? "/" : "", name);
	e->kind = kind;
	e->data = data;
	e->operations = ops;
	e->inode.i_private = data;
	e->next = entries;
	entries = e;
	return &e->dentry;
}

struct dentry *debugfs_create_dir(const char *name, struct dentry *parent)
{
	return add(name, parent, DIRECTORY, NULL, NULL);
}

#if SC_SHORT_OPERATIONS
struct dentry *debugfs_create_file_full(const char *name, umode_t mode, struct dentry *parent, void *data, const void *aux, const struct file_operations *ops)
#else
struct dentry *debugfs_create_file(const char *name, umode_t mode, struct dentry *parent, void *data, const struct file_operations *ops)
#endif
{
	return add(name, parent, FILE_OPERATIONS, data, ops);
}

struct dentry *debugfs_create_file_unsafe(const char *name, umode_t mode, struct dentry *parent, void *data, const struct file_operations *ops)
{
	return add(name, parent, FILE_OPERATIONS, data, ops);
}

SC_NUMBER_FILE debugfs_create_bool(const char *name, umode_t mode, struct dentry *parent, bool *value)
{
	SC_NUMBER_ADDED(add(name, parent, YES_OR_NO, value, NULL));
}

void debugfs_create_u32(const char *name, umode_t mode, struct dentry *parent, u32 *value)
{
	add(name, parent, NUMBER_32, value, NULL);
}

void debugfs_create_u64(const char *name, umode_t mode, struct dentry *parent, u64 *value)
{
	add(name, parent, NUMBER_64, value, NULL);
}

SC_NUMBER_FILE debugfs_create_ulong(const char *name, umode_t mode, struct dentry *parent, unsigned long *value)
{
	SC_NUMBER_ADDED(add(name, parent, NUMBER_LONG, value, NULL));
}

void debugfs_create_str(const char *name, umode_t mode, struct dentry *parent, char **value)
{
	add(name, parent, TEXT, value, NULL);
}

static void forget(struct entry *gone)
{
	size_t length = gone->length;
	struct entry **at = &entries;

	while (*at) {
		struct entry *e = *at;

		if (e->length >= length && (!e->path[length] || e->path[length] == '/') && !memcmp(e->path, gone->path, length))
			*at = e->next;
		else
			at = &e->next;
	}
}

void debugfs_remove(struct dentry *dentry)
{
	if (!IS_ERR_OR_NULL(dentry))
		forget(entry_of(dentry));
}

void debugfs_lookup_and_remove(const char *name, struct dentry *parent)
{
	struct entry whole = { }, *up = entry_of(parent);

	whole.length = scnprintf(whole.path, sizeof(whole.path), "%s%s%s", up ? up->path : "", up ? "/" : "", name);
	forget(&whole);
}

static struct entry *find(const char *path)
{
	struct entry *e;

	path = sc_file(path);
	for (e = entries; e; e = e->next)
		if (!strcmp(e->path, path))
			return e;
	return NULL;
}

static sc_s64 write_file(struct entry *e, const char *text)
{
	struct file file = { .f_inode = &e->inode };
	loff_t at = 0;
	sc_s64 result = 0;

	if (!e->operations->write)
		return -EACCES;
	if (e->operations->open)
		result = e->operations->open(&e->inode, &file);
	if (!result)
		result = e->operations->write(&file, text, strlen(text), &at);
	if (e->operations->release)
		e->operations->release(&e->inode, &file);
	return result < 0 ? result : 0;
}

sc_s64 sc_debugfs_write(const char *path, const char *text)
{
	struct entry *e = find(path);
	u64 value;

	if (!e)
		return -ENOENT;
	if (e->kind == FILE_OPERATIONS)
		return write_file(e, text);
	if (e->kind == DIRECTORY || e->kind == TEXT)
		return -EACCES;
	if (kstrtoull(text, 0, &value))
		return -EINVAL;
	if (e->kind == YES_OR_NO)
		*(bool *)e->data = value;
	else if (e->kind == NUMBER_32)
		*(u32 *)e->data = value;
	else
		*(u64 *)e->data = value;
	return 0;
}

/* seq_file.c: a file that is open, and what it shows by. */
struct shown {
	struct seq_file seq;
	int (*show)(struct seq_file *, void *);
	const struct seq_operations *each;
};

static struct shown *open_shown(struct file *file)
{
	struct shown *shown = sc_host->alloc(sizeof(*shown), 64);

	file->private_data = shown;
	return shown;
}

int single_open(struct file *file, int (*show)(struct seq_file *, void *), void *data)
{
	struct shown *shown = open_shown(file);

	shown->show = show;
	shown->seq.private = data;
	return 0;
}

int seq_open(struct file *file, const struct seq_operations *each)
{
	open_shown(file)->each = each;
	return 0;
}

int seq_release(struct inode *inode, struct file *file)
{
	kfree(file->private_data);
	return 0;
}

int single_release(struct inode *inode, struct file *file)
{
	return seq_release(inode, file);
}

void seq_printf(struct seq_file *seq, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	seq->count += vscnprintf(seq->buf + seq->count, seq->size - seq->count, format, args);
	va_end(args);
}

int seq_write(struct seq_file *seq, const void *data, size_t size)
{
	size = min(size, seq->size - seq->count);
	memcpy(seq->buf + seq->count, data, size);
	seq->count += size;
	return 0;
}

void seq_putc(struct seq_file *seq, char c)
{
	seq_write(seq, &c, 1);
}

void __seq_puts(struct seq_file *seq, const char *text)
{
	seq_write(seq, text, strlen(text));
}

static int show_all(struct shown *shown)
{
	const struct seq_operations *each = shown->each;
	loff_t at = 0;
	void *item;

	if (shown->show)
		return shown->show(&shown->seq, NULL);
	for (item = each->start(&shown->seq, &at); !IS_ERR_OR_NULL(item); item = each->next(&shown->seq, item, &at))
		each->show(&shown->seq, item);
	each->stop(&shown->seq, item);
	return 0;
}

static sc_s64 read_file(struct entry *e, char *text, sc_u64 size)
{
	struct file file = { .f_inode = &e->inode };
	struct shown *shown;
	sc_s64 result;

	if (!e->operations->open)
		return -EACCES;
	result = e->operations->open(&e->inode, &file);
	shown = file.private_data;
	if (result || !shown)
		return result ? result : -EACCES;
	shown->seq.buf = text;
	shown->seq.size = size;
	result = show_all(shown);
	result = result < 0 ? result : shown->seq.count;
	kfree(shown);
	return result;
}

/* What a file shows, as far as `size` goes; its length. */
sc_s64 sc_debugfs_read(const char *path, char *text, sc_u64 size)
{
	struct entry *e = find(path);

	if (!e)
		return -ENOENT;
	switch (e->kind) {
	case YES_OR_NO:
		return scnprintf(text, size, "%c\n", *(bool *)e->data ? 'Y' : 'N');
	case NUMBER_32:
		return scnprintf(text, size, "%u\n", *(u32 *)e->data);
	case NUMBER_64:
	case NUMBER_LONG:
		return scnprintf(text, size, "%llu\n", *(u64 *)e->data);
	case TEXT:
		return scnprintf(text, size, "%s\n", *(char **)e->data);
	case DIRECTORY:
		return -EISDIR;
	case FILE_OPERATIONS:
		break;
	}
	return read_file(e, text, size);
}
