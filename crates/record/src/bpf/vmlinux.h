/* The kernel types that our programs read, cut down by hand from a kernel's BTF: CO-RE relocates every access to the
 * running kernel's layout when the program is loaded, so only names and types matter here, not the order. */
#ifndef WHYSLOW_VMLINUX_H
#define WHYSLOW_VMLINUX_H

typedef unsigned char __u8;
typedef short int __s16;
typedef short unsigned int __u16;
typedef int __s32;
typedef unsigned int __u32;
typedef long long int __s64;
typedef long long unsigned int __u64;
typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s32 s32;
typedef __s64 s64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;
typedef int pid_t;
typedef u32 dev_t;
typedef u64 sector_t;
typedef u8 blk_status_t;
typedef u16 umode_t;
typedef _Bool bool;
enum { false = 0, true = 1 };

/* include/uapi/linux/bpf.h */
enum bpf_map_type {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PERCPU_HASH = 5,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_STACK_TRACE = 7,
	BPF_MAP_TYPE_LRU_HASH = 9,
	BPF_MAP_TYPE_LRU_PERCPU_HASH = 10,
	BPF_MAP_TYPE_RINGBUF = 27,
	BPF_MAP_TYPE_TASK_STORAGE = 29,
};
enum {
	BPF_ANY = 0,
	BPF_NOEXIST = 1,
	BPF_F_NO_PREALLOC = 1,
	BPF_F_MMAPABLE = 1024,
	BPF_LOCAL_STORAGE_GET_F_CREATE = 1,
	BPF_RB_NO_WAKEUP = 1,
	BPF_F_USER_STACK = 256,
	BPF_F_FAST_STACK_CMP = 512,
	BPF_F_REUSE_STACKID = 1024,
};

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct pt_regs {
	long unsigned int bp;
	long unsigned int r9;
	long unsigned int r8;
	long unsigned int r10;
	long unsigned int r12;
	long unsigned int r13;
	long unsigned int r14;
	long unsigned int ax;
	long unsigned int cx;
	long unsigned int dx;
	long unsigned int si;
	long unsigned int di;
	long unsigned int orig_ax;
	long unsigned int ip;
	long unsigned int sp;
};

struct thread_info {
	u32 status;
};

#include "vmlinux_files.h"

struct sched_info {
	long unsigned int pcount;
	long long unsigned int last_arrival;
};

struct cfs_rq {
	int throttle_count;
};

struct sched_entity {
	struct cfs_rq *cfs_rq;
};

/* arch/x86/include/asm/processor.h */
struct thread_struct {
	long unsigned int fsbase;
};

struct task_struct {
	struct thread_info thread_info;
	unsigned int __state;
	int on_cpu;
	struct sched_entity se;
	unsigned int flags;
	int exit_state;
	int exit_code;
	pid_t pid;
	pid_t tgid;
	struct task_struct *real_parent;
	struct task_struct *group_leader;
	char comm[16];
	struct fs_struct *fs;
	struct files_struct *files;
	void *mm;
	long unsigned int nvcsw;
	long unsigned int nivcsw;
	long unsigned int min_flt;
	long unsigned int maj_flt;
	struct sched_info sched_info;
	struct thread_struct thread;
};

struct bpf_perf_event_data {
	struct pt_regs regs;
};

/* Before Linux 5.14 (2f064a59a11f) the field had another name. */
struct task_struct___before_5_14 {
	long state;
};

struct kernel_siginfo {
	int si_signo;
};

struct net;
typedef struct {
	struct net *net;
} possible_net_t;

struct in6_addr {
	u8 bytes[16];
};

struct sock_common {
	__be32 skc_daddr;
	__be32 skc_rcv_saddr;
	__be16 skc_dport;
	short unsigned int skc_family;
	volatile unsigned char skc_state;
	possible_net_t skc_net;
	struct in6_addr skc_v6_daddr;
	struct in6_addr skc_v6_rcv_saddr;
};

typedef struct {
	int counter;
} atomic_t;

struct sock {
	struct sock_common __sk_common;
	atomic_t sk_drops;
	u16 sk_protocol;
	u32 sk_max_ack_backlog;
};

struct sockaddr_un {
	u16 sun_family;
};

struct unix_address {
	int len;
	struct sockaddr_un name[0];
};

struct unix_sock {
	struct unix_address *addr;
	struct sock *peer;
};

struct inet_sock {
	__be16 inet_sport;
};

struct tcp_sock {
	u32 srtt_us;
};

struct socket {
	struct sock *sk;
};

struct linux_binprm {
	const char *filename;
};

struct seq_file;
struct bpf_iter_meta {
	struct seq_file *seq;
	u64 session_id;
	u64 seq_num;
};
struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};
struct bpf_iter__task_file {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
	u32 fd;
	struct file *file;
};

#pragma clang attribute pop

#endif
