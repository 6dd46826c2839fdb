// SPDX-License-Identifier: GPL-2.0-only
/*
 * Control groups. Hierarchy, controllers and files are the tree's own (kernel/cgroup, fs/kernfs); what is here is who opens their files,
 * in place of a file system that somebody mounts.
 */
#include <linux/cgroup.h>
#include <linux/cpuset.h>
#include <linux/cred.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/kernfs.h>
#include <linux/nsproxy.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include "machine.h"

/* fs/kernfs/kernfs-internal.h, kernel/cgroup/cgroup-internal.h */
struct kernfs_node *kernfs_get_active(struct kernfs_node *kn);
void kernfs_put_active(struct kernfs_node *kn);
extern const struct super_operations kernfs_sops;
int cgroup_mkdir(struct kernfs_node *parent, const char *name, umode_t mode);

/* Of the namespaces of tasks, groups look at their own. */
struct nsproxy init_nsproxy = { .cgroup_ns = &init_cgroup_ns };

/* A file or directory of groups that is open. clone3() finds a directory by its number. */
struct opened {
	struct file file;
	struct dentry dentry;
	struct inode inode;
	struct opened *next;
	unsigned int number;
};

static struct super_block mount = { .s_op = &kernfs_sops, .s_type = &cgroup_fs_type };
static struct opened *directories;

void sc_groups_early(void)
{
	cgroup_init_early();
}

void sc_groups_setup(void)
{
	kernfs_init();
	cpuset_init();
	cgroup_init();
}

/* Besides the root. */
bool sc_has_groups(void)
{
	return directories;
}

static struct kernfs_node *node_of(const char *path)
{
	struct kernfs_node *root = cgrp_dfl_root.cgrp.kn;

	if (!*path) {
		kernfs_get(root);
		return root;
	}
	return kernfs_walk_and_get(root, path);
}

static void link_file(struct opened *to, struct kernfs_node *kn)
{
	to->inode.i_private = kn;
	to->dentry.d_inode = &to->inode;
	to->dentry.d_sb = &mount;
	*(struct dentry **)&to->file.f_path.dentry = &to->dentry;
	to->file.f_cred = current_cred();
}

static struct file *directory_of(unsigned int number)
{
	struct opened *d;

	for (d = directories; d; d = d->next)
		if (d->number == number)
			return &d->file;
	return NULL;
}

/* file.c: descriptors are numbers of groups. */
#if SC_FD_IS_A_WORD
struct fd fdget_raw(unsigned int number)
{
	return (struct fd) { (unsigned long)directory_of(number) };
}
#else
struct file *fget_raw(unsigned int number)
{
	return directory_of(number);
}
#endif

/* fs/kernfs/inode.c: whom a permission is asked for, which all have. */
struct inode *kernfs_get_inode(struct super_block *sb, struct kernfs_node *kn)
{
	static struct inode inode;

	return &inode;
}

/* The group below the one that `path` leads to, which must be there; its number. */
static sc_s64 make(const char *path)
{
	const char *name = strrchr(path, '/');
	struct kernfs_node *parent;
	struct opened *d;
	char above[256];
	int error;

	strscpy(above, path, min(sizeof(above), name ? (size_t)(name - path) + 1 : 1));
	parent = node_of(above);
	if (!parent || !kernfs_get_active(parent))
		return -ENOENT;
	error = cgroup_mkdir(parent, name ? name + 1 : path, 0755);
	kernfs_put_active(parent);
	kernfs_put(parent);
	if (error)
		return error;
	d = sc_host->alloc(sizeof(*d), 64);
	link_file(d, node_of(path));
	d->number = directories ? directories->number + 1 : 1;
	d->next = directories;
	directories = d;
	return d->number;
}

/* What a system call on an open file of a group begins and ends with. */
static int open(const char *path, struct kernfs_open_file *of)
{
	struct kernfs_node *kn = node_of(path);
	int error = 0;

	if (!kn || kernfs_type(kn) != KERNFS_FILE)
		error = -ENOENT;
	else if (!(kn->mode & S_IWUGO))
		error = -EACCES;
	else if (!kernfs_get_active(kn))
		error = -ENODEV;
	if (error) {
		kernfs_put(kn);
		return error;
	}
	of->kn = kn;
	error = kn->attr.ops->open ? kn->attr.ops->open(of) : 0;
	if (error) {
		kernfs_put_active(kn);
		kernfs_put(kn);
	}
	return error;
}

static void close(struct kernfs_open_file *of)
{
	if (of->kn->attr.ops->release)
		of->kn->attr.ops->release(of);
	kernfs_put_active(of->kn);
	kernfs_put(of->kn);
}

static sc_s64 write(const char *path, const char *text)
{
	static struct opened opened;
	struct kernfs_open_file of = { .file = &opened.file };
	char *copy;
	sc_s64 result = open(path, &of);

	if (result)
		return result;
	link_file(&opened, of.kn);
	copy = kstrdup(text, GFP_KERNEL);
	mutex_init(&of.mutex);
	result = of.kn->attr.ops->write ? of.kn->attr.ops->write(&of, copy, strlen(copy), 0) : -EINVAL;
	kfree(copy);
	close(&of);
	return result < 0 ? result : 0;
}

struct cgroup *sc_group(sc_u32 number)
{
	struct file *directory = directory_of(number);
	struct kernfs_node *kn = directory ? directory->f_path.dentry->d_inode->i_private : NULL;

	return kn ? kn->priv : NULL;
}

/*
 * What the cpu controller shows in a group's cpu.stat, as far as `size` goes; its length. It reads memory and takes no lock, so the
 * simulator may ask between two turns.
 */
sc_s64 sc_group_stat(sc_u32 number, char *text, sc_u64 size)
{
	struct seq_file seq = { .buf = text, .size = size };
	struct cgroup *group = sc_group(number);
	struct cgroup_subsys_state *css = group ? rcu_dereference_raw(group->subsys[cpu_cgrp_id]) : NULL;

	/* Without the controller the group has no quota. */
	if (css)
		cpu_cgrp_subsys.css_extra_stat_show(&seq, css);
	return seq.count;
}

/* Moves a task to a group, by the file where one writes its pid. A cpuset replaces its affinity, which is then asked for again. */
struct joins {
	const char *path;
	sc_s64 pid;
	sc_u32 group;
};

static int join(void *arg)
{
	struct joins *joins = arg;
	struct task_struct *task = sc_task(joins->pid);
	static struct cpumask asked_for;
	char pid[16];
	int error;

	sc_inherits(task, joins->group);
	cpumask_copy(&asked_for, &task->cpus_mask);
	scnprintf(pid, sizeof(pid), "%d", task->pid);
	error = write(joins->path, pid);
	/* With none of its CPUs in the cpuset, a task has those of the cpuset, as if it had been moved there while it ran. */
	if (!error && cpumask_intersects(&asked_for, &task->cpus_mask) && !cpumask_equal(&asked_for, cpu_possible_mask))
		error = sched_setaffinity(task->pid, &asked_for);
	return error;
}

sc_s64 sc_group_join(sc_s64 pid, sc_u32 group, const char *procs)
{
	struct joins joins = { procs, pid, group };

	return sc_ask(join, &joins);
}

struct asked {
	const char *path, *text;
};

static int make_or_write(void *arg)
{
	struct asked *asked = arg;

	return asked->text ? write(asked->path, asked->text) : make(asked->path);
}

sc_s64 sc_group_make(const char *path)
{
	struct asked asked = { path, NULL };

	return sc_ask(make_or_write, &asked);
}

sc_s64 sc_group_write(const char *path, const char *text)
{
	struct asked asked = { path, text };

	return sc_ask(make_or_write, &asked);
}
