/* floor OBJECT: loads and attaches its programs (floor.bpf.c), says so, and waits for its end. */
#include <bpf/libbpf.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct bpf_object *object = argc == 2 ? bpf_object__open(argv[1]) : NULL;
	struct bpf_program *program;

	if (!object || bpf_object__load(object))
		return 1;
	bpf_object__for_each_program(program, object)
		if (!bpf_program__attach(program))
			return 1;
	puts("attached");
	fflush(stdout);
	pause();
	return 0;
}
