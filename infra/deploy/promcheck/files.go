package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/common/promslog"
	"github.com/prometheus/prometheus/config"
	_ "github.com/prometheus/prometheus/discovery/dns" // the kind of discovery that our configuration uses
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
)

// lookback is how old a sample may be for Prometheus to still take it (--query.lookback-delta as it is by default).
const lookback = model.Duration(5 * time.Minute)

var promql = parser.NewParser(parser.Options{})

// loadedConfig is what a configuration file says, with the defaults of Prometheus.
type loadedConfig struct {
	Jobs      []string `json:"jobs"`
	RuleFiles []string `json:"ruleFiles"`
}

// configFile loads a configuration as the server does. Paths in it are those of the server's machine and are not looked for.
func configFile(file string) (loadedConfig, error) {
	loaded := loadedConfig{Jobs: []string{}, RuleFiles: []string{}}
	cfg, err := config.LoadFile(file, false, promslog.NewNopLogger())
	if err != nil {
		return loaded, err
	}
	jobs, err := cfg.GetScrapeConfigs()
	if err != nil {
		return loaded, err
	}
	for _, job := range jobs {
		if job.ScrapeInterval >= lookback {
			return loaded, fmt.Errorf("%s: samples of %s are stale before the next come", file, job.JobName)
		}
		loaded.Jobs = append(loaded.Jobs, job.JobName)
	}
	for _, pattern := range cfg.RuleFiles {
		if _, err := filepath.Match(pattern, ""); err != nil {
			return loaded, fmt.Errorf("%s: %s: %w", file, pattern, err)
		}
		loaded.RuleFiles = append(loaded.RuleFiles, pattern)
	}
	return loaded, nil
}

// loadedRule is an alert with what its expression reads.
type loadedRule struct {
	Alert string `json:"alert"`
	reading
}

// ruleFile loads rules as the server does: unknown fields, expressions and templates are looked at.
func ruleFile(file string) ([]loadedRule, error) {
	groups, errs := rulefmt.ParseFile(file, false, model.UTF8Validation, promql, promslog.NewNopLogger())
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	loaded := []loadedRule{}
	seen := map[string]bool{}
	for _, group := range groups.Groups {
		for _, rule := range group.Rules {
			if rule.Alert == "" {
				return nil, fmt.Errorf("%s: %s is not an alert", file, rule.Record)
			}
			if seen[rule.Alert] {
				return nil, fmt.Errorf("%s: %s is there twice", file, rule.Alert)
			}
			seen[rule.Alert] = true
			read, err := readingOf(rule.Expr)
			if err != nil {
				return nil, fmt.Errorf("%s: %s: %w", file, rule.Alert, err)
			}
			loaded = append(loaded, loadedRule{Alert: rule.Alert, reading: read})
		}
	}
	return loaded, nil
}

// reading is what an expression asks of the metrics.
type reading struct {
	// Metrics by name, with the labels that selectors and groupings name.
	Metrics map[string][]string `json:"metrics"`
	// Labels that the result has, if the expression says so by grouping; else null: those of the series.
	Labels []string `json:"labels"`
}

// expressions reads many expressions at once; what cannot be parsed is an error that names it.
func expressions(file string) (map[string]reading, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var asked map[string]string
	if err := json.Unmarshal(text, &asked); err != nil {
		return nil, err
	}
	readings := map[string]reading{}
	var errs []error
	for name, expression := range asked {
		read, err := readingOf(expression)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %s: %w", name, expression, err))
			continue
		}
		readings[name] = read
	}
	return readings, errors.Join(errs...)
}

func readingOf(expression string) (reading, error) {
	parsed, err := promql.ParseExpr(expression)
	if err != nil {
		return reading{}, err
	}
	read := reading{Metrics: map[string][]string{}, Labels: labelsOf(parsed)}
	parser.Inspect(parsed, func(node parser.Node, path []parser.Node) error {
		selector, ok := node.(*parser.VectorSelector)
		if !ok {
			return nil
		}
		names := read.Metrics[selector.Name]
		for _, matcher := range selector.LabelMatchers {
			if matcher.Name != model.MetricNameLabel {
				names = append(names, matcher.Name)
			}
		}
		for _, above := range path {
			if aggregate, ok := above.(*parser.AggregateExpr); ok && !aggregate.Without {
				names = append(names, aggregate.Grouping...)
			}
		}
		slices.Sort(names)
		read.Metrics[selector.Name] = append([]string{}, slices.Compact(names)...)
		return nil
	})
	return read, nil
}

// labelsOf says which labels a result has, or nil where the series decide.
func labelsOf(node parser.Expr) []string {
	switch node := node.(type) {
	case *parser.AggregateExpr:
		// These give back the series that they choose.
		if node.Op == parser.TOPK || node.Op == parser.BOTTOMK {
			return labelsOf(node.Expr)
		}
		if node.Without {
			return nil
		}
		return append([]string{}, node.Grouping...)
	case *parser.ParenExpr:
		return labelsOf(node.Expr)
	case *parser.BinaryExpr:
		if node.LHS.Type() == parser.ValueTypeScalar {
			return labelsOf(node.RHS)
		}
		return labelsOf(node.LHS)
	case *parser.Call:
		for _, argument := range node.Args {
			if argument.Type() != parser.ValueTypeScalar {
				found := labelsOf(argument)
				if node.Func.Name == "histogram_quantile" {
					found = slices.DeleteFunc(found, func(name string) bool { return name == "le" })
				}
				return found
			}
		}
	}
	return nil
}
