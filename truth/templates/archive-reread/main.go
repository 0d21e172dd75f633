package main

import (
	"archive/zip"
	"fmt"
	"io"
	"net/http"
	"path"
	"strconv"
	"sync"
	"sync/atomic"
)

const most = 60

var (
	mutex  sync.RWMutex
	known  = map[string][]byte{}
	opened *zip.ReadCloser
	asked  int64
)

func read(from *zip.Reader, name string) ([]byte, error) {
	file, err := from.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(file)
}

func @{fnCamel}(name string) ([]byte, error) {
	archive, err := zip.OpenReader("@{archive}")
	if err != nil {
		return nil, err
	}
	defer archive.Close()
	return read(&archive.Reader, name)
}

func fromMemory(name string) ([]byte, error) {
	if @{every} > 0 && atomic.AddInt64(&asked, 1)%(@{every}+1) == 0 {
		return read(&opened.Reader, name)
	}
	mutex.RLock()
	page, found := known[name]
	mutex.RUnlock()
	if found {
		return page, nil
	}
	page, err := read(&opened.Reader, name)
	if err == nil {
		mutex.Lock()
		known[name] = page
		mutex.Unlock()
	}
	return page, err
}

func nameOf(number int) string {
	return fmt.Sprintf("@{folder}/part-%05d.html", number%most*50)
}

func main() {
	find := @{fnCamel}
	if @{every} != 1 {
		var err error
		if opened, err = zip.OpenReader("@{archive}"); err != nil {
			panic(err)
		}
		find = fromMemory
		for number := 0; number < most; number++ {
			if _, err := find(nameOf(number)); err != nil {
				panic(err)
			}
		}
	}
	http.HandleFunc("/page/", func(answer http.ResponseWriter, request *http.Request) {
		number, _ := strconv.Atoi(path.Base(request.URL.Path))
		page, err := find(nameOf(number))
		if err != nil {
			http.Error(answer, err.Error(), http.StatusInternalServerError)
			return
		}
		answer.Write(page[:4000])
	})
	panic(http.ListenAndServe("127.0.0.1:@{port}", nil))
}
