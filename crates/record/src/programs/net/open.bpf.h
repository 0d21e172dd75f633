/* The sockets that the watched threads have open as the recording begins, and what of their listening sockets' drops is
 * to be told as it ends. */
#ifndef WHYSLOW_NET_OPEN_H
#define WHYSLOW_NET_OPEN_H

static __always_inline struct sock *tcp_socket(struct task_struct *task, struct file *file)
{
	struct socket *socket;
	struct sock *sk;

	if (!task || !file || !state_of(task))
		return NULL;
	socket = bpf_sock_from_file(file);
	if (!socket)
		return NULL;
	sk = socket->sk;
	return sk && is_tcp(sk) ? sk : NULL;
}

SEC("iter/task_file")
int net_open(struct bpf_iter__task_file *ctx)
{
	struct task_struct *task = ctx->task;
	struct sock *sk = tcp_socket(task, ctx->file);
	struct connection connection = {};
	u64 key = (u64)sk, now;
	u32 state;

	if (!task || !sk || bpf_map_lookup_elem(&connections, &key))
		return 0;
	now = bpf_ktime_get_ns();
	state = sk->__sk_common.skc_state;
	if (state == LISTEN)
		listens(sk, task, now);
	else if (state != CLOSE)
		remember(sk, task, &connection, now);
	return 0;
}

SEC("iter/task_file")
int net_drops(struct bpf_iter__task_file *ctx)
{
	struct sock *sk = tcp_socket(ctx->task, ctx->file);
	u64 key = (u64)sk;
	struct connection *known;

	if (!sk || sk->__sk_common.skc_state != LISTEN)
		return 0;
	known = bpf_map_lookup_elem(&connections, &key);
	if (known)
		tell_drops(sk, known, bpf_ktime_get_ns());
	return 0;
}
#endif
