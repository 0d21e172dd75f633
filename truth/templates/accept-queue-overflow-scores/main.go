// A game server: plays rounds, and posts the players' points when a round is over.
package main

import (
	"bufio"
	"fmt"
	"log"
	"net"
	"os"
	"sync"
	"time"
)

type result struct {
	player, points int
	took           time.Duration
}

func milliseconds(count float64) time.Duration {
	return time.Duration(count * float64(time.Millisecond))
}

func play(round int) []result {
	results := make([]result, @{players})
	for i := range results {
		results[i] = result{player: i, points: (round*7919 + i*104729) % 5000}
	}
	return results
}

//go:noinline
func @{fnCamel}(post *result) error {
	start := time.Now()
	defer func() { post.took = time.Since(start) }()
	service, err := net.Dial("tcp", "127.0.0.1:@{scores}")
	if err != nil {
		return err
	}
	defer service.Close()
	if _, err := fmt.Fprintf(service, "player-%d %d\n", post.player, post.points); err != nil {
		return err
	}
	_, err = bufio.NewReader(service).ReadString('\n')
	return err
}

func main() {
	begin, busy, units := time.Now(), time.Duration(0), 0
	for round := 0; time.Since(begin).Seconds() < @{seconds}; round++ {
		time.Sleep(milliseconds(@{round} * 1000))
		results := play(round)
		var posts sync.WaitGroup
		for i := range results {
			posts.Add(1)
			go func() {
				defer posts.Done()
				if err := @{fnCamel}(&results[i]); err != nil {
					log.Print(err)
				}
			}()
			if @{spread} > 0 {
				time.Sleep(milliseconds(@{spread}))
			}
		}
		posts.Wait()
		for _, post := range results {
			units++
			busy += post.took
		}
	}
	report := fmt.Sprintf(`{"units": %d, "seconds": %f}`, units, busy.Seconds())
	if err := os.WriteFile("@{report}", []byte(report), 0o644); err != nil {
		log.Fatal(err)
	}
}
