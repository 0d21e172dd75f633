// The registry of vaccinations: GET /persons/N/doses gives a person's doses.
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"time"
)

type dose struct {
	Against string `json:"against"`
	Batch   string `json:"batch"`
	Day     int    `json:"day"`
}

var against = []string{"yellow fever", "hepatitis A", "hepatitis B", "typhoid", "rabies", "cholera", "polio", "measles"}

func doses(answer http.ResponseWriter, question *http.Request) {
	var person int
	fmt.Sscanf(question.URL.Path, "/persons/%d/doses", &person)
	time.Sleep(time.Duration(@{delay} * float64(time.Millisecond)))
	all := make([]dose, @{doses})
	for i := range all {
		all[i] = dose{against[(person+i*3)%len(against)], fmt.Sprintf("B%06d", (person*7919+i*131)%1000000), 19000 + (person*31+i*97)%1000}
	}
	answer.Header().Set("Content-Type", "application/json")
	json.NewEncoder(answer).Encode(all)
}

func main() {
	http.HandleFunc("/persons/", doses)
	log.Fatal(http.ListenAndServe("127.0.0.1:@{registry}", nil))
}
