/* What happens on the TCP connections of the watched threads. A connection is theirs where one of them connects or
 * listens, or has it open as the recording begins; most of what happens to it happens in an interrupt, in no one's name. */
#include "../../bpf/common.bpf.h"

/* include/net/tcp_states.h, include/linux/socket.h, include/uapi/linux/in.h */
enum { ESTABLISHED = 1, SYN_SENT = 2, SYN_RECV = 3, CLOSE = 7, LISTEN = 10 };
#define AF_INET 2
#define AF_INET6 10
#define TCP 6

/* model::NetKind, in its order */
enum { CONNECTED = 0, ACCEPTED = 1, RETRANSMIT = 2, RESET = 3, LISTEN_OVERFLOW = 4, CLOSED = 5 };
#define UNKNOWN (~0ull)

struct net_record {
	struct record head; /* flags: the kind; tid: whose connection it is */
	u32 pid;
	u16 local_port;
	u16 peer_port;
	u64 took; /* ns, or UNKNOWN */
	u64 rtt; /* us, or UNKNOWN */
	u64 count;
	u8 local[16];
	u8 peer[16];
	u64 family;
};
TELL_TYPE(struct net_record, net_record);

struct connection {
	u64 began; /* when connect was called; 0 where that was not seen */
	u64 established;
	u32 pid;
	u32 tid;
	u32 drops; /* of a listening socket, when last told */
	u32 pad;
};

/* The kernel forgets no socket without closing it: what is closed leaves. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 65536);
	__type(key, u64);
	__type(value, struct connection);
} connections SEC(".maps");

/* Where the watched listen: what is accepted there is theirs. */
struct listener {
	u64 network; /* the network namespace */
	u64 port;
};
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 4096);
	__type(key, struct listener);
	__type(value, struct connection);
} listeners SEC(".maps");

static __always_inline u16 local_port(struct sock *sk)
{
	/* skc_num is taken away before the last change of state is told. */
	return __builtin_bswap16(BPF_CORE_READ((struct inet_sock *)sk, inet_sport));
}

static __always_inline void addresses(struct sock *sk, struct net_record *record)
{
	u32 local = sk->__sk_common.skc_rcv_saddr, peer = sk->__sk_common.skc_daddr;

	__builtin_memset(record->local, 0, sizeof(record->local));
	__builtin_memset(record->peer, 0, sizeof(record->peer));
	record->family = sk->__sk_common.skc_family;
	record->local_port = local_port(sk);
	record->peer_port = __builtin_bswap16(sk->__sk_common.skc_dport);
	if (record->family == AF_INET6 && bpf_core_field_exists(sk->__sk_common.skc_v6_daddr)) {
		bpf_core_read(record->local, 16, &sk->__sk_common.skc_v6_rcv_saddr);
		bpf_core_read(record->peer, 16, &sk->__sk_common.skc_v6_daddr);
		return;
	}
	__builtin_memcpy(record->local, &local, 4);
	__builtin_memcpy(record->peer, &peer, 4);
}

static __always_inline void tell(struct sock *sk, struct connection *of, u32 kind, u64 took, u64 count, u64 now)
{
	struct net_record *record = rare_reserve(sizeof(*record), RECORD_NET, now);
	u32 rtt = 0;

	if (!record)
		return;
	begin_record(&record->head, sizeof(*record), RECORD_NET, kind, of->tid, now);
	record->pid = of->pid;
	record->took = took;
	record->count = count;
	if (kind != LISTEN_OVERFLOW)
		rtt = BPF_CORE_READ((struct tcp_sock *)sk, srtt_us) >> 3;
	record->rtt = rtt ? rtt : UNKNOWN;
	addresses(sk, record);
	bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
}

static __always_inline bool is_tcp(struct sock *sk)
{
	return sk->sk_protocol == TCP &&
	       (sk->__sk_common.skc_family == AF_INET || sk->__sk_common.skc_family == AF_INET6);
}

static __always_inline struct listener listener_of(struct sock *sk)
{
	return (struct listener){ .network = (u64)sk->__sk_common.skc_net.net, .port = local_port(sk) };
}

static __always_inline void remember(struct sock *sk, struct task_struct *task, struct connection *connection, u64 now)
{
	u64 key = (u64)sk;

	connection->pid = task->tgid;
	connection->tid = task->pid;
	connection->drops = sk->sk_drops.counter;
	if (bpf_map_update_elem(&connections, &key, connection, BPF_ANY))
		rare_count(RECORD_NET, true, now);
}

static __always_inline void listens(struct sock *sk, struct task_struct *task, u64 now)
{
	struct connection connection = {};
	struct listener listener = listener_of(sk);

	remember(sk, task, &connection, now);
	bpf_map_update_elem(&listeners, &listener, &connection, BPF_ANY);
}

/* SYNs and finished handshakes that found the backlog full. */
static __always_inline void tell_drops(struct sock *sk, struct connection *listener, u64 now)
{
	u32 drops = sk->sk_drops.counter, more = drops - listener->drops;

	listener->drops = drops;
	if (more)
		tell(sk, listener, LISTEN_OVERFLOW, UNKNOWN, more, now);
}

static __always_inline void closed(struct sock *sk, u32 before, u64 now)
{
	u64 key = (u64)sk;
	struct connection *known = bpf_map_lookup_elem(&connections, &key);

	if (!known)
		return;
	if (before == LISTEN) {
		struct listener listener = listener_of(sk);

		tell_drops(sk, known, now);
		bpf_map_delete_elem(&listeners, &listener);
	} else if (before != SYN_SENT) {
		tell(sk, known, CLOSED, known->established ? elapsed(known->established, now) : UNKNOWN, 1, now);
	}
	bpf_map_delete_elem(&connections, &key);
}

static __always_inline void established(struct sock *sk, u32 before, u64 now)
{
	u64 key = (u64)sk;
	struct connection *known = bpf_map_lookup_elem(&connections, &key);

	if (known) {
		known->established = now;
		if (before == SYN_SENT)
			tell(sk, known, CONNECTED, known->began ? elapsed(known->began, now) : UNKNOWN, 1, now);
	} else if (before == SYN_RECV) {
		struct listener listener = listener_of(sk);
		struct connection connection = { .established = now };
		struct connection *ours = bpf_map_lookup_elem(&listeners, &listener);

		if (!ours)
			return;
		connection.pid = ours->pid;
		connection.tid = ours->tid;
		if (bpf_map_update_elem(&connections, &key, &connection, BPF_ANY))
			rare_count(RECORD_NET, true, now);
		tell(sk, &connection, ACCEPTED, UNKNOWN, 1, now);
	}
}

SEC("tp_btf/inet_sock_set_state")
int net_state(u64 *ctx)
{
	struct sock *sk = (void *)ctx[0];
	u32 before = ctx[1], state = ctx[2];
	u64 now;

	if (!is_tcp(sk))
		return 0;
	now = bpf_ktime_get_ns();
	if (!is_on(PART_NET)) {
		u64 key = (u64)sk;

		/* Its address may be another's soon. */
		if (state == CLOSE)
			bpf_map_delete_elem(&connections, &key);
		rare_refused(RECORD_NET);
		return 0;
	}
	if (state == ESTABLISHED) {
		established(sk, before, now);
	} else if (state == CLOSE) {
		closed(sk, before, now);
	} else if (state == SYN_SENT || state == LISTEN) {
		struct task_struct *task = bpf_get_current_task_btf();
		struct connection connection = { .began = now };

		if (!state_of(task))
			return 0;
		if (state == LISTEN)
			listens(sk, task, now);
		else
			remember(sk, task, &connection, now);
	}
	rare_spent(RECORD_NET, now, 1);
	return 0;
}

static __always_inline int on_known(struct sock *sk, u32 kind)
{
	u64 key = (u64)sk;
	struct connection *known = bpf_map_lookup_elem(&connections, &key);

	if (known)
		tell(sk, known, kind, UNKNOWN, 1, bpf_ktime_get_ns());
	return 0;
}

SEC("tp_btf/tcp_retransmit_skb")
int net_retransmit(u64 *ctx)
{
	return on_known((struct sock *)ctx[0], RETRANSMIT);
}

SEC("tp_btf/tcp_receive_reset")
int net_reset(u64 *ctx)
{
	return on_known((struct sock *)ctx[0], RESET);
}

#include "open.bpf.h"
