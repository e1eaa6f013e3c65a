// Command oracle asks Kubernetes' own code for the answers that usher must give too, and writes them down.
//
// The cases are random and hostile, and the same on every run. Each file holds one JSON object a line: a question and
// Kubernetes' answer. The tests in tests/unit/oracle go through all of them. Run it through scripts/oracle.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
)

// A family is one kind of question. Each has random numbers of its own, so that a change to one leaves the others alone.
type family struct {
	file  string
	seed  uint64
	cases func(*rand.Rand) ([]any, error)
}

var families = []family{
	{"quantities.jsonl", 1, quantityCases},
	{"comparisons.jsonl", 2, comparisonCases},
	{"sums.jsonl", 3, sumCases},
	{"pods.jsonl", 4, podCases},
	{"tolerations.jsonl", 5, tolerationCases},
	{"taints.jsonl", 6, taintCases},
	{"nodes.jsonl", 7, nodeCases},
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: oracle DIRECTORY")
		os.Exit(2)
	}
	for _, family := range families {
		if err := write(family, os.Args[1]); err != nil {
			fmt.Fprintf(os.Stderr, "oracle: %s: %v\n", family.file, err)
			os.Exit(1)
		}
	}
}

func write(family family, directory string) (err error) {
	cases, err := family.cases(rand.New(rand.NewPCG(family.seed, 0)))
	if err != nil {
		return err
	}
	file, err := os.Create(filepath.Join(directory, family.file))
	if err != nil {
		return err
	}
	defer func() {
		if closing := file.Close(); err == nil {
			err = closing
		}
	}()
	lines := bufio.NewWriter(file)
	seen := map[string]bool{}
	for _, one := range cases {
		line, err := encode(one)
		if err != nil {
			return err
		}
		if !seen[line] {
			lines.WriteString(line)
		}
		seen[line] = true
	}
	return lines.Flush()
}

// encode gives one line of JSON, which has no need to be safe inside HTML.
func encode(one any) (string, error) {
	var line strings.Builder
	encoder := json.NewEncoder(&line)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(one)
	return line.String(), err
}
