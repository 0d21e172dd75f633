package main

import (
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
)

const ratesURL = "http://127.0.0.1:@{back}"

var rates = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 32}}

func @{fnCamel}(id string) ([]byte, error) {
	answer, err := rates.Get(ratesURL + "/rates/" + id)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	return io.ReadAll(answer.Body)
}

func sign(text []byte) string {
	sum := sha256.Sum256(text)
	for i := 0; i < @{rounds}; i++ {
		sum = sha256.Sum256(sum[:])
	}
	return fmt.Sprintf("%x", sum)
}

func watch() {
	for {
		answer, err := rates.Get(ratesURL + "/watch")
		if err != nil {
			return
		}
		io.Copy(io.Discard, answer.Body)
		answer.Body.Close()
	}
}

func main() {
	for i := 0; i < @{watchers}; i++ {
		go watch()
	}
	http.HandleFunc("/quotes/", func(w http.ResponseWriter, r *http.Request) {
		rate, err := @{fnCamel}(strings.TrimPrefix(r.URL.Path, "/quotes/"))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		text := fmt.Sprintf(`{"rate":%s,"signature":%s}`, rate, strconv.Quote(sign(rate)))
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, text)
	})
	panic(http.ListenAndServe("127.0.0.1:@{port}", nil))
}
