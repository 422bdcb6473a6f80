// Command promcheck asks Prometheus itself what our files mean: its loader of configurations and rules, its engine for the unit
// tests of rules, its parser for the expressions of dashboards. It prints JSON and fails when a file is refused.
//
// It does what promtool does, without the clients of clusters and clouds that promtool links and that take longest to build.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
)

const usage = `usage:
  promcheck config <prometheus.yml>      loads a configuration; prints jobs, intervals and rule files
  promcheck rules <rules.yml>            loads and lints rules; prints the alerts with the metrics they read
  promcheck test <rules.test.yml>        runs unit tests in the format of promtool; prints how often each alert rang and was quiet
  promcheck expressions <file.json>      parses the expressions of {"name": "expression"}; prints the metrics that each reads`

func main() {
	result, err := run(os.Args[1:])
	if err == nil {
		encoder := json.NewEncoder(os.Stdout)
		encoder.SetEscapeHTML(false)
		err = encoder.Encode(result)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) (any, error) {
	if len(args) != 2 {
		return nil, errors.New(usage)
	}
	switch args[0] {
	case "config":
		return configFile(args[1])
	case "rules":
		return ruleFile(args[1])
	case "test":
		return testFile(args[1])
	case "expressions":
		return expressions(args[1])
	default:
		return nil, errors.New(usage)
	}
}
