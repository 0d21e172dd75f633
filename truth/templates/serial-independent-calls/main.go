package main

import (
	"crypto/sha1"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
)

// Account statement: balances of four banks.
var (
	banks  = []int{@{one}, @{two}, @{three}, @{four}}
	client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 16}}
)

type bank struct{ address string }

func (b bank) balance(account string) string {
	answer, err := client.Get(b.address + "/balance/" + account)
	if err != nil {
		return err.Error()
	}
	defer answer.Body.Close()
	text, _ := io.ReadAll(answer.Body)
	return string(text)
}

func @{fnCamel}(account string) []string {
	var lines []string
	switch "@{order}" {
	case "together":
		lines = make([]string, len(banks)*@{each})
		var all sync.WaitGroup
		for i := range lines {
			all.Add(1)
			go func(i int) {
				defer all.Done()
				lines[i] = bank{fmt.Sprintf("http://127.0.0.1:%d", banks[i%len(banks)])}.balance(fmt.Sprint(account, "-", i))
			}(i)
		}
		all.Wait()
	case "serial":
		for i := 0; i < len(banks)*@{each}; i++ {
			lines = append(lines, bank{fmt.Sprintf("http://127.0.0.1:%d", banks[i%len(banks)])}.balance(fmt.Sprint(account, "-", i)))
		}
	default:
		for _, port := range banks {
			lines = append(lines, bank{fmt.Sprintf("http://127.0.0.1:%d", port)}.balance(account))
			account = lines[len(lines)-1][6:12]
		}
	}
	return lines
}

func main() {
	http.HandleFunc("/page/", func(w http.ResponseWriter, r *http.Request) {
		text := strings.Join(@{fnCamel}(strings.TrimPrefix(r.URL.Path, "/page/")), "\n")
		sum := sha1.Sum([]byte(text))
		for i := 0; i < @{rounds}; i++ {
			sum = sha1.Sum(sum[:])
		}
		w.Header().Set("ETag", fmt.Sprintf("%x", sum))
		io.WriteString(w, text)
	})
	panic(http.ListenAndServe("127.0.0.1:@{port}", nil))
}
