// The dunning run: reminds the customers of each district of what they owe.
package main

import (
	"bufio"
	"fmt"
	"log"
	"net"
	"os"
	"sort"
	"strconv"
	"strings"
	"time"
)

type invoice struct {
	customer, number, age int
	cents                 float64
}

// Four in the hundred a year, from the thirtieth day on.
func (i invoice) owed() float64 {
	owed := i.cents
	for day := 31; day <= i.age; day++ {
		owed *= 1 + 0.04/365
	}
	return owed
}

type ledger struct {
	conn net.Conn
	in   *bufio.Scanner
}

func (l *ledger) rows(statement string) (rows [][]string, err error) {
	if _, err := fmt.Fprintln(l.conn, statement); err != nil {
		return nil, err
	}
	for l.in.Scan() {
		switch row := l.in.Text(); row {
		case "":
			return rows, nil
		case "ERROR":
			return nil, fmt.Errorf("the ledger does not understand: %s", statement)
		default:
			rows = append(rows, strings.Split(row, "\t"))
		}
	}
	return nil, fmt.Errorf("the ledger went away")
}

func (l *ledger) customers(district int) (ids []string, err error) {
	rows, err := l.rows(fmt.Sprint("SELECT id FROM customers WHERE district = ", district))
	for _, row := range rows {
		ids = append(ids, row[0])
	}
	return ids, err
}

func (l *ledger) invoices(condition string) (found []invoice, err error) {
	rows, err := l.rows("SELECT customer, number, age, cents FROM invoices WHERE customer " + condition)
	for _, row := range rows {
		var fields [4]int
		for i := range fields {
			if fields[i], err = strconv.Atoi(row[i]); err != nil {
				return nil, err
			}
		}
		found = append(found, invoice{fields[0], fields[1], fields[2], float64(fields[3])})
	}
	return found, err
}

//go:noinline
func @{fnCamel}(l *ledger, customers []string) (open []invoice, err error) {
	if "@{select}" == "all" {
		return l.invoices("IN (" + strings.Join(customers, ", ") + ")")
	}
	for _, customer := range customers {
		found, err := l.invoices("= " + customer)
		if err != nil {
			return nil, err
		}
		open = append(open, found...)
	}
	return open, nil
}

func letters(printer *bufio.Writer, open []invoice) {
	sort.Slice(open, func(i, j int) bool {
		if open[i].customer != open[j].customer {
			return open[i].customer < open[j].customer
		}
		return open[i].age > open[j].age
	})
	last, sum := 0, 0.0
	for _, one := range open {
		if one.age < 14 {
			continue
		}
		if one.customer != last {
			if last != 0 {
				fmt.Fprintf(printer, "%.2f in all\n\n", sum/100)
			}
			fmt.Fprintf(printer, "Dear customer %d,\nmay we remind you of\n", one.customer)
			last, sum = one.customer, 0
		}
		fmt.Fprintf(printer, "%-10d %4d days %10.2f\n", one.number, one.age, one.owed()/100)
		sum += one.owed()
	}
	fmt.Fprintf(printer, "%.2f in all\n\n", sum/100)
}

func main() {
	conn, err := net.Dial("tcp", "127.0.0.1:@{ledger}")
	if err != nil {
		log.Fatal(err)
	}
	l := &ledger{conn, bufio.NewScanner(conn)}
	file, err := os.Create("@{work}/reminders.txt")
	if err != nil {
		log.Fatal(err)
	}
	printer := bufio.NewWriter(file)
	units, busy, selecting, began := 0, 0.0, 0.0, time.Now()
	for time.Since(began).Seconds() < @{seconds} {
		start := time.Now()
		customers, err := l.customers(units % 400)
		if err != nil {
			log.Fatal(err)
		}
		asked := time.Now()
		open, err := @{fnCamel}(l, customers)
		if err != nil {
			log.Fatal(err)
		}
		selecting += time.Since(asked).Seconds()
		letters(printer, open)
		busy += time.Since(start).Seconds()
		units++
		time.Sleep(time.Duration((float64(units)/@{rate} - time.Since(began).Seconds()) * 1e9))
	}
	printer.Flush()
	report := fmt.Sprintf(`{"units": %d, "seconds": %f, "culprit": %f}`, units, busy, selecting)
	if err := os.WriteFile("@{report}", []byte(report), 0o644); err != nil {
		log.Fatal(err)
	}
}
