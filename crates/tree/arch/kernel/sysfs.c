// SPDX-License-Identifier: GPL-2.0-only
/*
 * sysfs as a list of the files that kobjects have. The kernel's own lib/kobject.c keeps the objects, and each object's show() and
 * store() read and write; so what a governor makes of a text, and what it refuses, is as on a machine. Paths begin below
 * devices/system/cpu. A directory is its kobject, so there is nothing to be made for one.
 */
#include <linux/cpufreq.h>
#include <linux/kobject.h>
#include <linux/slab.h>
#include <linux/sysfs.h>
#include "machine.h"

/* One file, or all files of a group. */
struct entry {
	struct kobject *of;
	const struct attribute *file;
	const struct attribute_group *group;
	struct entry *next;
};

static struct entry *entries;

static int add(struct kobject *of, const struct attribute *file, const struct attribute_group *group)
{
	struct entry *e = kmalloc(sizeof(*e), GFP_KERNEL);

	*e = (struct entry) { of, file, group, entries };
	entries = e;
	return 0;
}

static bool is(struct entry *e, struct kobject *of, const struct attribute *file, const struct attribute_group *group)
{
	return e->of == of && (!file || e->file == file) && (!group || e->group == group);
}

static void forget(struct kobject *of, const struct attribute *file, const struct attribute_group *group)
{
	struct entry **at = &entries;

	while (*at) {
		struct entry *e = *at;

		if (is(e, of, file, group)) {
			*at = e->next;
			kfree(e);
		} else {
			at = &e->next;
		}
	}
}

int sysfs_create_dir_ns(struct kobject *of, SC_NAMESPACE space)
{
	return 0;
}

void sysfs_remove_dir(struct kobject *of)
{
	forget(of, NULL, NULL);
}

int sysfs_create_file_ns(struct kobject *of, const struct attribute *file, SC_NAMESPACE space)
{
	return add(of, file, NULL);
}

void sysfs_remove_file_ns(struct kobject *of, const struct attribute *file, SC_NAMESPACE space)
{
	forget(of, file, NULL);
}

/* Groups of a kobject's type: none of those here has a name or hides files. */
int sysfs_create_groups(struct kobject *of, SC_GROUPS groups)
{
	for (; groups && *groups; groups++)
		add(of, NULL, *groups);
	return 0;
}

void sysfs_remove_groups(struct kobject *of, SC_GROUPS groups)
{
	for (; groups && *groups; groups++)
		forget(of, NULL, *groups);
}

int sysfs_emit(char *to, const char *format, ...)
{
	va_list args;
	int length;

	va_start(args, format);
	length = vscnprintf(to, PAGE_SIZE, format, args);
	va_end(args);
	return length;
}

/* Whether the first `length` bytes of `path` are the directory of `of`. The root has no name. */
static bool is_path(struct kobject *of, const char *path, size_t length)
{
	size_t own;

	if (!of || !of->name)
		return !length;
	own = strlen(of->name);
	if (length < own || memcmp(path + length - own, of->name, own))
		return false;
	length -= own;
	if (length && path[--length] != '/')
		return false;
	return is_path(of->parent, path, length);
}

static struct attribute *named(struct entry *e, const char *name)
{
	struct attribute **file;

	if (e->file)
		return strcmp(e->file->name, name) ? NULL : (struct attribute *)e->file;
	for (file = e->group->attrs; file && *file; file++)
		if (!strcmp((*file)->name, name))
			return *file;
	return NULL;
}

/* A file that is read or written. */
struct access {
	const char *path, *text;
	char *page;
	struct kobject *of;
	struct attribute *file;
};

static const struct sysfs_ops *find(struct access *a)
{
	const char *name = strrchr(a->path, '/');
	struct entry *e;

	if (!name)
		return NULL;
	for (e = entries; e; e = e->next) {
		a->of = e->of;
		a->file = named(e, name + 1);
		if (a->file && is_path(e->of, a->path, name - a->path))
			return e->of->ktype->sysfs_ops;
	}
	return NULL;
}

static int store(void *arg)
{
	struct access *a = arg;
	const struct sysfs_ops *operations = find(a);
	ssize_t result;

	if (!operations)
		return -ENOENT;
	if (!operations->store || !(a->file->mode & 0222))
		return -EACCES;
	result = operations->store(a->of, a->file, a->text, strlen(a->text));
	return result < 0 ? result : 0;
}

static int show(void *arg)
{
	struct access *a = arg;
	const struct sysfs_ops *operations = find(a);

	if (!operations)
		return -ENOENT;
	if (!operations->show || !(a->file->mode & 0444))
		return -EACCES;
	return operations->show(a->of, a->file, a->page);
}

sc_s64 sc_sysfs_write(const char *path, const char *text)
{
	struct access a = { .path = path, .text = text };

	return sc_ask(store, &a);
}

/* What a file shows, as far as `size` goes; its length. */
sc_s64 sc_sysfs_read(const char *path, char *text, sc_u64 size)
{
	struct access a = { .path = path, .page = kzalloc(PAGE_SIZE, GFP_KERNEL) };
	sc_s64 length = sc_ask(show, &a);

	if (length > 0) {
		length = min_t(sc_u64, length, size);
		memcpy(text, a.page, length);
	}
	kfree(a.page);
	return length;
}
