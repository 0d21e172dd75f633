// Finds offers: a question goes to all shards of the list at once, and the best answers are put together.
package main

import (
	"fmt"
	"log"
	"net/http"
	"os"
	"os/exec"
	"sort"
	"strings"
	"sync"
)

type offer struct {
	number int
	score  uint64
}

//go:noinline
func @{fnCamel}(shard int, question string) []offer {
	found := make([]offer, 0, 64)
	hash := uint64(len(question) + shard)
	for number := 0; number < @{work_ms}*540/@{shards}; number++ {
		for i := 0; i < 1000; i++ {
			hash = (hash ^ uint64(question[i%len(question)])) * 1099511628211
			hash ^= hash >> 29
		}
		if len(found) < cap(found) {
			found = append(found, offer{number, hash})
		} else if at := number % len(found); found[at].score < hash {
			found[at] = offer{number, hash}
		}
	}
	return found
}

func search(answer http.ResponseWriter, request *http.Request) {
	var all []offer
	var lock sync.Mutex
	var group sync.WaitGroup
	for shard := 0; shard < @{shards}; shard++ {
		group.Add(1)
		go func() {
			defer group.Done()
			found := @{fnCamel}(shard, request.URL.Path)
			lock.Lock()
			all = append(all, found...)
			lock.Unlock()
		}()
	}
	group.Wait()
	sort.Slice(all, func(a, b int) bool { return all[a].score > all[b].score })
	var text strings.Builder
	for _, one := range all[:20] {
		fmt.Fprintf(&text, "%d %d\n", one.number, one.score)
	}
	fmt.Fprint(answer, text.String())
}

func join(group string) {
	if err := os.WriteFile("/sys/fs/cgroup/cpu/"+group+"/cgroup.procs", []byte(fmt.Sprint(os.Getpid())), 0o644); err != nil {
		log.Fatal(err)
	}
}

func main() {
	if len(os.Args) > 1 {
		// The sums of the night: another process, with what is left.
		join("@{slice}-night")
		for night := 0; ; night++ {
			@{fnCamel}(night, "sums")
		}
	}
	join("@{slice}")
	if @{batch} == 1 {
		if err := exec.Command(os.Args[0], "night").Start(); err != nil {
			log.Fatal(err)
		}
	}
	http.HandleFunc("/search/", search)
	log.Fatal(http.ListenAndServe("127.0.0.1:@{port}", nil))
}
