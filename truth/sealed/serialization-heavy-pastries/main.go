// The recipe book of a pastry shop: changes come in, costs are worked out, and each change can be undone.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"time"
)

type Part struct {
	Name  string  `json:"name"`
	Grams int     `json:"grams"`
	Price float64 `json:"price"`
}

type Step struct {
	Name    string `json:"name"`
	Minutes int    `json:"minutes"`
}

type Recipe struct {
	Title       string `json:"title"`
	Degrees     int    `json:"degrees"`
	Minutes     int    `json:"minutes"`
	Ingredients []Part `json:"ingredients"`
	Steps       []Step `json:"steps"`
}

type Book map[string]*Recipe

var (
	goods   = []string{"flour", "butter", "sugar", "eggs", "almonds", "cream", "yeast", "salt", "vanilla", "cocoa", "milk", "rum"}
	culprit time.Duration
)

func makeBook() Book {
	book := Book{}
	for i := 0; i < @{recipes}; i++ {
		recipe := &Recipe{Title: fmt.Sprintf("Cake number %d", i), Degrees: 150 + i%70, Minutes: 20 + i%45}
		for k := 0; k < @{ingredients}; k++ {
			recipe.Ingredients = append(recipe.Ingredients, Part{goods[(i+k)%len(goods)], 10 + (i*37+k*11)%490, float64((i+k)%90) / 100})
		}
		for k, name := range []string{"weigh", "mix", "rest", "shape", "bake", "cool"} {
			recipe.Steps = append(recipe.Steps, Step{name, 3 + (i+k)%30})
		}
		book[fmt.Sprintf("cake-%d", i)] = recipe
	}
	return book
}

// What is to be had back by "undo".
func @{fnCamel}(book Book, id string, change int) (Book, error) {
	if (change+1)%@{whole} != 0 {
		recipe := *book[id]
		recipe.Ingredients = slices.Clone(recipe.Ingredients)
		return Book{id: &recipe}, nil
	}
	start := time.Now()
	defer func() { culprit += time.Since(start) }()
	text, err := json.Marshal(book)
	if err != nil {
		return nil, err
	}
	var copied Book
	err = json.Unmarshal(text, &copied)
	return copied, err
}

// What the cakes cost, and how long the oven is taken.
func costs(book Book) (total float64, oven int) {
	for _, recipe := range book {
		for _, part := range recipe.Ingredients {
			total += float64(part.Grams) * part.Price / 1000
		}
		oven += recipe.Minutes
	}
	return
}

func main() {
	book := makeBook()
	var undo []Book
	var busy time.Duration
	var total float64
	units := 0
	rate := @{rate}
	began := time.Now()
	due := began
	for time.Since(began).Seconds() < @{seconds} {
		start := time.Now()
		id := fmt.Sprintf("cake-%d", units*7919%@{recipes})
		before, err := @{fnCamel}(book, id, units)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		if undo = append(undo, before); len(undo) > @{kept} {
			undo = undo[1:]
		}
		part := &book[id].Ingredients[units%@{ingredients}]
		part.Grams = max(5, part.Grams+units*13%41-20)
		if units%29 == 11 {
			for name, recipe := range undo[len(undo)-1] {
				book[name] = recipe
			}
		}
		total, _ = costs(book)
		units++
		busy += time.Since(start)
		due = due.Add(time.Duration(float64(time.Second) / rate))
		time.Sleep(time.Until(due))
	}
	fmt.Printf("%.2f\n", total)
	os.WriteFile("@{report}", []byte(fmt.Sprintf(`{"units": %d, "seconds": %f, "culprit": %f}`, units, busy.Seconds(), culprit.Seconds())), 0o644)
}
