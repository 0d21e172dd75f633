// A program with known kinds of work that writes its profiles, three rounds of seven, to the directory it is given.
package main

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"sort"
	"strings"
	"sync"
	"time"
)

type tree[T any] struct {
	left, right *tree[T]
	value       T
}

func (t *tree[T]) insert(v T, less func(a, b T) bool) *tree[T] {
	if t == nil {
		return &tree[T]{value: v}
	}
	if less(v, t.value) {
		t.left = t.left.insert(v, less)
	} else {
		t.right = t.right.insert(v, less)
	}
	return t
}

func add(a, b int) int { return a + b }

func fibonacci(n int) int {
	if n < 2 {
		return n
	}
	return add(fibonacci(n-1), fibonacci(n-2))
}

func parse(text string) (words int) {
	for _, field := range strings.Fields(text) {
		words += len(strings.ToUpper(field))
	}
	return
}

var kept [][]byte

func work(kind string, until time.Time) {
	pprof.Do(context.Background(), pprof.Labels("kind", kind, "tenant", "t"+kind[:1]), func(context.Context) {
		for time.Now().Before(until) {
			switch kind {
			case "fib":
				fibonacci(18)
			case "parse":
				parse(strings.Repeat("a quick brown fox ", 50))
			case "sort":
				numbers := make([]int, 2000)
				for i := range numbers {
					numbers[i] = (i * 7919) % 2003
				}
				sort.Ints(numbers)
			case "tree":
				var t *tree[int]
				for i := 0; i < 300; i++ {
					t = t.insert((i*7919)%307, func(a, b int) bool { return a < b })
				}
			}
		}
	})
}

func write(dir, name string) {
	f, err := os.Create(filepath.Join(dir, name+".pprof"))
	if err != nil {
		panic(err)
	}
	defer f.Close()
	if err := pprof.Lookup(strings.TrimRight(name, "0123456789")).WriteTo(f, 0); err != nil {
		panic(err)
	}
}

func contend() {
	var mu sync.Mutex
	var wg sync.WaitGroup
	ch := make(chan int)
	for i := 0; i < 4; i++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for j := 0; j < 20; j++ {
				mu.Lock()
				time.Sleep(100 * time.Microsecond)
				mu.Unlock()
				ch <- j
			}
		}()
	}
	go func() { wg.Wait(); close(ch) }()
	for range ch {
	}
}

func main() {
	dir := os.Args[1]
	runtime.MemProfileRate = 4096
	runtime.SetMutexProfileFraction(1)
	runtime.SetBlockProfileRate(1)
	for round, kinds := range [][]string{{"fib", "parse"}, {"sort", "tree", "parse"}, {"fib", "sort", "tree", "parse"}} {
		suffix := string(rune('1' + round))
		f, err := os.Create(filepath.Join(dir, "cpu"+suffix+".pprof"))
		if err != nil {
			panic(err)
		}
		pprof.StartCPUProfile(f)
		until := time.Now().Add(300 * time.Millisecond)
		var wg sync.WaitGroup
		for _, kind := range kinds {
			wg.Add(1)
			go func() { defer wg.Done(); work(kind, until) }()
		}
		wg.Wait()
		pprof.StopCPUProfile()
		f.Close()
		for i := 0; i < 64<<round; i++ {
			kept = append(kept, make([]byte, 1000*(i%7+1)))
		}
		contend()
		runtime.GC()
		for _, name := range []string{"heap", "allocs", "mutex", "block", "goroutine", "threadcreate"} {
			write(dir, name+suffix)
		}
	}
}
