/* Which service a socket leads to: for who connected, the address of the other end; for who accepted, its own. All connections to a
 * service are one row, whatever the client's port. */
#ifndef WHYSLOW_FILES_SERVICE_H
#define WHYSLOW_FILES_SERVICE_H
#include "path.bpf.h"

enum { SIDE_CLIENT = 1, SIDE_SERVER = 2 };

/* include/linux/socket.h, include/uapi/linux/in.h */
#define AF_UNIX 1
#define AF_INET 2
#define AF_INET6 10
#define TCP 6
#define UDP 17
/* Of sockaddr_un.sun_path (include/uapi/linux/un.h). */
#define UNIX_PATH_BYTES 108

/* The address of a unix socket that has one: that of the other end, else its own. A socket that was accepted shares the address of
 * the one that listens (net/unix/af_unix.c, unix_stream_connect). */
static __always_inline struct unix_address *unix_address_of(struct sock *sk, u32 *side)
{
	struct unix_sock *own = (void *)sk, *peer = (void *)BPF_CORE_READ(own, peer);
	struct unix_address *address = peer ? BPF_CORE_READ(peer, addr) : NULL;

	*side = address ? SIDE_CLIENT : SIDE_SERVER;
	return address ? address : BPF_CORE_READ(own, addr);
}

static __always_inline void name_unix(struct file_name *name, struct sock *sk)
{
	u32 side;
	u64 address = (u64)unix_address_of(sk, &side);

	if (!address)
		return;
	/* No address of the kernel is told to anybody. */
	name->id.inode = address * 0x9e3779b97f4a7c15ull;
	name->family = AF_UNIX;
	name->side = side;
}

static __always_inline void name_internet(struct file_name *name, struct sock *sk, u16 family)
{
	struct inet_sock *inet = bpf_rdonly_cast(sk, bpf_core_type_id_kernel(struct inet_sock));
	u16 protocol = sk->sk_protocol;
	/* A socket that was accepted is a copy of the one that listens (net/core/sock.c, sk_clone_lock), with its backlog. */
	bool serves = protocol == TCP && sk->sk_max_ack_backlog;

	if (protocol != TCP && protocol != UDP)
		return;
	name->port = __builtin_bswap16(serves ? inet->inet_sport : sk->__sk_common.skc_dport);
	/* Not connected: each datagram has its own way. */
	if (!name->port)
		return;
	if (family == AF_INET) {
		u32 address = serves ? sk->__sk_common.skc_rcv_saddr : sk->__sk_common.skc_daddr;

		__builtin_memcpy(name->address, &address, 4);
	} else if (bpf_core_field_exists(sk->__sk_common.skc_v6_daddr)) {
		bpf_core_read(name->address, 16,
			      serves ? &sk->__sk_common.skc_v6_rcv_saddr : &sk->__sk_common.skc_v6_daddr);
	}
	name->family = family;
	name->root = protocol;
	name->side = serves ? SIDE_SERVER : SIDE_CLIENT;
}

static __always_inline void name_service(struct file_name *name, struct file *file)
{
	struct socket *socket = bpf_rdonly_cast(file->private_data, bpf_core_type_id_kernel(struct socket));
	struct sock *sk = socket->sk;
	u16 family = sk->__sk_common.skc_family;

	if (family == AF_UNIX)
		name_unix(name, sk);
	else if (family == AF_INET || family == AF_INET6)
		name_internet(name, sk, family);
}

/* Tells the path that a unix socket is reached at, once. Global, so that the verifier looks at it once. */
__noinline int tell_socket_path(struct file_name *name, u64 file, u64 now)
{
	struct file *typed;
	struct socket *socket;
	struct unix_address *address;
	struct path_room *room;
	struct file_name told;
	u32 zero = 0, length, side;

	if (!name || name->family != AF_UNIX || !bpf_ksym_exists(bpf_rdonly_cast))
		return 0;
	told = *name;
	if (bpf_map_lookup_elem(&paths_told, &told))
		return 0;
	room = bpf_map_lookup_elem(&path_room, &zero);
	if (!room)
		return 0;
	typed = bpf_rdonly_cast((void *)file, bpf_core_type_id_kernel(struct file));
	socket = bpf_rdonly_cast(typed->private_data, bpf_core_type_id_kernel(struct socket));
	address = unix_address_of(socket->sk, &side);
	if (!address)
		return 0;
	/* What is behind the family; of an abstract name the first byte is a NUL (unix(7)). */
	length = BPF_CORE_READ(address, len) - sizeof(u16);
	if (length == 0 || length > UNIX_PATH_BYTES)
		return 0;
	if (bpf_probe_read_kernel(room->record.text, length,
				  (void *)address + bpf_core_field_offset(struct unix_address, name) + sizeof(u16)))
		return 0;
	__builtin_memset(room->record.text + length, 0, 8);
	length = (length + sizeof(struct path_record) - sizeof(room->record.text) + 7) & ~7u;
	begin_record(&room->record.head, length, RECORD_PATH, PATH_SOCKET, bpf_get_current_task_btf()->pid, now);
	room->record.file = told;
	if (bpf_ringbuf_output(&rare_ring, &room->record, length, BPF_RB_NO_WAKEUP)) {
		rare_count(RECORD_PATH, true, now);
		return 0;
	}
	rare_count(RECORD_PATH, false, now);
	bpf_map_update_elem(&paths_told, &told, &zero, BPF_ANY);
	return 0;
}
#endif
