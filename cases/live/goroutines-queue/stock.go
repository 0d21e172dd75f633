// Sixteen goroutines reserve stock: stock mutex|split|channel|receivers PORT. `mutex` asks the service at PORT under the lock, `split`
// before it takes it; `channel` asks, and hands the order to one goroutine that takes 20 ms for each, `receivers` to sixteen. stock
// behind PORT is the service, which takes 40 ms for an answer.
package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"sync"
	"time"
)

const goroutines = 16

var (
	guard  sync.Mutex
	stock  = map[int]int{}
	client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: goroutines}}
)

func ask(url string) {
	answer, err := client.Get(url)
	if err != nil {
		panic(err)
	}
	io.Copy(io.Discard, answer.Body)
	answer.Body.Close()
}

// The slow one: the lock is held while the service works.
func reserve(url string, item int) {
	guard.Lock()
	defer guard.Unlock()
	answer, err := client.Get(url)
	if err != nil {
		panic(err)
	}
	io.Copy(io.Discard, answer.Body)
	answer.Body.Close()
	stock[item]++
}

func reserveAsked(url string, item int) {
	ask(url)
	guard.Lock()
	defer guard.Unlock()
	stock[item]++
}

func send(orders chan<- int, url string, item int) {
	ask(url)
	orders <- item
}

func store(orders <-chan int) {
	for order := range orders {
		time.Sleep(20 * time.Millisecond)
		guard.Lock()
		stock[order]++
		guard.Unlock()
	}
}

func all(times int, work func(item int)) {
	var group sync.WaitGroup
	for item := range goroutines {
		group.Add(1)
		go func() {
			defer group.Done()
			for range times {
				work(item)
			}
		}()
	}
	group.Wait()
}

func main() {
	port := os.Args[2]
	url := "http://127.0.0.1:" + port + "/reserve"
	orders := make(chan int)
	switch os.Args[1] {
	case "behind":
		err := http.ListenAndServe("127.0.0.1:"+port, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			time.Sleep(40 * time.Millisecond)
			fmt.Fprintln(w, "reserved")
		}))
		panic(err)
	case "mutex":
		all(6, func(item int) { reserve(url, item) })
	case "split":
		all(96, func(item int) { reserveAsked(url, item) })
	case "channel":
		go store(orders)
		all(12, func(item int) { send(orders, url, item) })
	case "receivers":
		for range goroutines {
			go store(orders)
		}
		all(60, func(item int) { send(orders, url, item) })
	}
}
