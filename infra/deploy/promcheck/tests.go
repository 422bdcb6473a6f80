package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/common/promslog"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/promqltest"
	"github.com/prometheus/prometheus/rules"
	"go.yaml.in/yaml/v2"
)

// unitTests is the part of promtool's format for unit tests that we use; a file with more than that is refused.
type unitTests struct {
	RuleFiles          []string       `yaml:"rule_files"`
	EvaluationInterval model.Duration `yaml:"evaluation_interval"`
	Tests              []unitTest     `yaml:"tests"`
}

type unitTest struct {
	Name        string         `yaml:"name"`
	Interval    model.Duration `yaml:"interval"`
	InputSeries []struct {
		Series string `yaml:"series"`
		Values string `yaml:"values"`
	} `yaml:"input_series"`
	Alerts []expectation `yaml:"alert_rule_test"`
}

// expectation says which alerts of a name fire at a time, with all of their labels and annotations.
type expectation struct {
	EvalTime  model.Duration `yaml:"eval_time"`
	Alertname string         `yaml:"alertname"`
	Expected  []alert        `yaml:"exp_alerts"`
}

type alert struct {
	Labels      map[string]string `yaml:"exp_labels"`
	Annotations map[string]string `yaml:"exp_annotations"`
}

// tried counts what held for one alert.
type tried struct {
	Firing int `json:"firing"`
	Quiet  int `json:"quiet"`
}

// testFile runs every test of a file with the engine and the rules of Prometheus; the error has all that did not hold.
func testFile(file string) (map[string]*tried, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var tests unitTests
	if err := yaml.UnmarshalStrict(text, &tests); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if tests.EvaluationInterval == 0 {
		tests.EvaluationInterval = model.Duration(time.Minute)
	}
	for i, name := range tests.RuleFiles {
		tests.RuleFiles[i] = filepath.Join(filepath.Dir(file), name)
	}
	counts := map[string]*tried{}
	var errs []error
	for _, test := range tests.Tests {
		if test.Interval == 0 {
			test.Interval = tests.EvaluationInterval
		}
		if err := test.run(time.Duration(tests.EvaluationInterval), tests.RuleFiles, counts); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", test.Name, err))
		}
	}
	return counts, errors.Join(errs...)
}

func (test unitTest) run(every time.Duration, ruleFiles []string, counts map[string]*tried) (err error) {
	samples := &strings.Builder{}
	fmt.Fprintf(samples, "load %s\n", test.Interval)
	for _, input := range test.InputSeries {
		fmt.Fprintf(samples, "  %s %s\n", input.Series, input.Values)
	}
	suite, err := promqltest.NewLazyLoader(samples.String(), promqltest.LazyLoaderOpts{
		EnableAtModifier: true, EnableNegativeOffset: true, Parser: promql,
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, suite.Close()) }()
	suite.SubqueryInterval = every
	manager := rules.NewManager(&rules.ManagerOptions{
		QueryFunc:    rules.EngineQueryFunc(suite.QueryEngine(), suite.Storage()),
		AppendableV2: suite.Storage(),
		Context:      context.Background(),
		NotifyFunc:   func(context.Context, string, ...*rules.Alert) {},
		Logger:       promslog.NewNopLogger(),
		Parser:       promql,
	})
	groups, errs := manager.LoadGroups(every, labels.EmptyLabels(), "", nil, false, ruleFiles...)
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	waiting := slices.Clone(test.Alerts)
	slices.SortStableFunc(waiting, func(a, b expectation) int { return int(a.EvalTime - b.EvalTime) })
	var failures []error
	for at := time.Duration(0); len(waiting) > 0; at += every {
		now := time.Unix(0, 0).UTC().Add(at)
		suite.WithSamplesTill(now, func(loadError error) { err = loadError })
		if err != nil {
			return err
		}
		firing := map[string][]*rules.Alert{}
		for _, group := range groups {
			group.Eval(suite.Context(), now)
			for _, rule := range group.Rules() {
				alerting, ok := rule.(*rules.AlertingRule)
				if !ok {
					continue
				}
				if alerting.LastError() != nil {
					return fmt.Errorf("%s at %s: %w", rule.Name(), at, alerting.LastError())
				}
				firing[rule.Name()] = append(firing[rule.Name()], firingOf(alerting)...)
			}
		}
		for len(waiting) > 0 && time.Duration(waiting[0].EvalTime) < at+every {
			failures = append(failures, waiting[0].check(firing, counts))
			waiting = waiting[1:]
		}
	}
	return errors.Join(failures...)
}

func firingOf(rule *rules.AlertingRule) []*rules.Alert {
	return slices.DeleteFunc(rule.ActiveAlerts(), func(one *rules.Alert) bool { return one.State != rules.StateFiring })
}

func (expected expectation) check(firing map[string][]*rules.Alert, counts map[string]*tried) error {
	wanted, got := []string{}, []string{}
	for _, one := range expected.Expected {
		all := map[string]string{labels.AlertName: expected.Alertname}
		for name, value := range one.Labels {
			all[name] = value
		}
		wanted = append(wanted, fmt.Sprintf("%s %s", labels.FromMap(all), labels.FromMap(one.Annotations)))
	}
	for _, one := range firing[expected.Alertname] {
		got = append(got, fmt.Sprintf("%s %s", one.Labels, one.Annotations))
	}
	slices.Sort(wanted)
	slices.Sort(got)
	if !slices.Equal(wanted, got) {
		return fmt.Errorf("%s at %s\n  expected %q\n  got      %q", expected.Alertname, expected.EvalTime, wanted, got)
	}
	count := counts[expected.Alertname]
	if count == nil {
		count = &tried{}
		counts[expected.Alertname] = count
	}
	if len(got) > 0 {
		count.Firing++
	} else {
		count.Quiet++
	}
	return nil
}
