/* Reads the pieces of a program's memory that a call's specification names (crates/record/src/spec.rs). */
#ifndef WHYSLOW_PIECES_H
#define WHYSLOW_PIECES_H

#define MAX_PIECES 6

enum { WHEN_EXIT = 0, WHEN_ENTER = 1, WHEN_SUCCESS = 2 };
enum {
	SIZE_TEXT = 0,
	SIZE_FIXED = 1,
	SIZE_ARG = 2,
	SIZE_RET = 3,
	SIZE_ARG_POINTER = 4,
	SIZE_TEXT_ARRAY = 5,
	SIZE_IOVEC = 6,
	SIZE_MESSAGE = 7,
};
enum { SPEC_STATE = 1, SPEC_SKIP = 2, SPEC_ENTER = 4, SPEC_FUTEX = 8 };

struct piece_spec {
	u8 arg;
	u8 when;
	u8 size;
	u8 of;
	u16 scale;
	u16 cap;
	u8 payload;
	u8 pad[3];
};

struct call_spec {
	u8 args;
	u8 pieces;
	u8 flags;
	u8 pad;
	struct piece_spec piece[MAX_PIECES];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, MAX_CALL_NUMBERS);
	__type(key, u32);
	__type(value, struct call_spec);
} call_specs SEC(".maps");

#include "append.bpf.h"

/* Whether a descriptor of this thread is a socket or a pipe. */
__noinline int is_stream(u32 fd)
{
	struct file *file = file_of(fd);
	umode_t mode;

	if (!file)
		return 0;
	if (bpf_ksym_exists(bpf_rdonly_cast)) {
		struct file *typed = bpf_rdonly_cast(file, bpf_core_type_id_kernel(struct file));

		mode = typed->f_inode->i_mode & S_IFMT;
	} else {
		mode = BPF_CORE_READ(file, f_inode, i_mode) & S_IFMT;
	}
	return mode == S_IFSOCK || mode == S_IFIFO;
}

__noinline int read_piece(struct piece_reader *reader, struct piece_spec *piece, struct record_room *room, u32 at)
{
	u64 from, of, size;
	s64 ret;
	u32 cap;

	if (!reader || !piece || !room)
		return at;
	from = reader->args[piece->arg & 7];
	of = reader->args[piece->of & 7];
	ret = reader->ret;
	cap = piece->cap;
	reader->arg = piece->arg;
	reader->part = 0;
	if (piece->size == SIZE_IOVEC) {
		reader->part = 1;
		return append_buffers(reader, room, at, from, of);
	}
	if (piece->size == SIZE_MESSAGE)
		return append_message(reader, room, at, from);
	if (piece->payload) {
		cap = settings.payload;
		if (!cap)
			return at;
		/* What is read from files is nobody's business here; what is written may be a log line. */
		if (piece->when == WHEN_SUCCESS && !settings.all_payload && !is_stream(reader->args[0]))
			return at;
	}
	switch (piece->size) {
	case SIZE_TEXT:
		reader->from = from;
		reader->cap = cap < settings.text_cap ? cap : settings.text_cap;
		reader->text = 1;
		return append(reader, room, at);
	case SIZE_TEXT_ARRAY:
		reader->cap = cap;
		return append_texts(reader, room, at, from);
	case SIZE_FIXED:
		size = piece->scale;
		break;
	case SIZE_ARG:
		size = of * piece->scale;
		/* A call that wrote moved no more than it says. */
		if (piece->payload && ret >= 0 && (u64)ret < size)
			size = ret;
		break;
	case SIZE_RET:
		size = ret > 0 ? ret * piece->scale : 0;
		break;
	case SIZE_ARG_POINTER: {
		u32 length = 0;

		if (!of || bpf_probe_read_user(&length, sizeof(length), (void *)of) < 0)
			return at;
		size = length;
		break;
	}
	default:
		return at;
	}
	return append_bytes(reader, room, at, 0, from, size, cap);
}

static __always_inline u32 read_pieces(struct piece_reader *reader, struct call_spec *spec, char *record, u32 at,
				       bool at_enter, bool destroys)
{
#pragma unroll
	for (u32 i = 0; i < MAX_PIECES; i++) {
		struct piece_spec *piece = &spec->piece[i];

		if (i >= spec->pieces)
			break;
		/* What a call would have destroyed is read again where it failed: a page may have been missing at first. */
		if (at_enter ? piece->when != WHEN_ENTER : piece->when == WHEN_ENTER && !(destroys && reader->ret < 0))
			continue;
		if (piece->when == WHEN_SUCCESS && reader->ret < 0)
			continue;
		at = read_piece(reader, piece, (void *)record, at);
		barrier_var(at);
		at &= MAX_RECORD - 1;
	}
	return at;
}
#endif
