package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/moby/buildkit/client/llb"
	"github.com/moby/buildkit/client/llb/sourceresolver"
	"github.com/moby/buildkit/frontend/dockerfile/dockerfile2llb"
	"github.com/moby/buildkit/frontend/dockerfile/instructions"
	"github.com/moby/buildkit/frontend/dockerfile/parser"
	"github.com/moby/buildkit/frontend/dockerui"
	digest "github.com/opencontainers/go-digest"
	ocispecs "github.com/opencontainers/image-spec/specs-go/v1"
)

// stage is one FROM of the Dockerfile with what follows it, for whoever wants to do the same by hand.
type stage struct {
	Name         string        `json:"name"`
	Base         string        `json:"base"`
	Instructions []instruction `json:"instructions"`
}

type instruction struct {
	Name string `json:"name"`
	// Line in the file, from 1.
	Line  int      `json:"line"`
	Args  []string `json:"args"`
	Flags []string `json:"flags,omitempty"`
	// Whether the arguments are a list (the exec form), not a line for a shell.
	Exec bool `json:"exec,omitempty"`
}

// noRegistry stands for every base image: a Linux system with a PATH. The lint needs no more, and no network.
type noRegistry struct{}

func (noRegistry) ResolveImageConfig(_ context.Context, ref string, _ sourceresolver.Opt) (string, digest.Digest, []byte, error) {
	config := []byte(`{"architecture":"amd64","os":"linux","config":{"Env":["PATH=/usr/local/bin:/usr/bin:/bin"]}}`)
	return ref, digest.FromBytes(config), config, nil
}

func dockerfile(ctx context.Context, file string, buildArgs []string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	args := map[string]string{}
	for _, pair := range buildArgs {
		name, value, _ := strings.Cut(pair, "=")
		args[name] = value
	}
	main := llb.Local("context")
	source := llb.NewSourceMap(nil, file, "Dockerfile", text)
	// The file is here, not a part of a build: nothing defines where it comes from.
	source.Definition = &llb.Definition{}
	results, err := dockerfile2llb.DockerfileLint(ctx, text, dockerfile2llb.ConvertOpt{
		Config:         dockerui.Config{BuildArgs: args},
		MainContext:    &main,
		SourceMap:      source,
		TargetPlatform: &ocispecs.Platform{OS: "linux", Architecture: "amd64"},
		MetaResolver:   noRegistry{},
	})
	if err != nil {
		return err
	}
	if results.Error != nil {
		return fmt.Errorf("%s: %s", file, results.Error.Message)
	}
	var warnings []string
	for _, warning := range results.Warnings {
		warnings = append(warnings, fmt.Sprintf("%s:%d: %s: %s", file, warning.Location.Ranges[0].Start.Line, warning.RuleName, warning.Detail))
	}
	if len(warnings) > 0 {
		return fmt.Errorf("%s", strings.Join(warnings, "\n"))
	}
	stages, err := stagesOf(text)
	if err != nil {
		return err
	}
	return printJSON(stages)
}

func stagesOf(text []byte) ([]stage, error) {
	parsed, err := parser.Parse(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	// The stages say which base each has; the nodes keep the words as they were written.
	typed, _, err := instructions.Parse(parsed.AST, nil)
	if err != nil {
		return nil, err
	}
	var stages []stage
	for _, node := range parsed.AST.Children {
		name := strings.ToUpper(node.Value)
		if name == "FROM" {
			of := typed[len(stages)]
			stages = append(stages, stage{Name: of.Name, Base: of.BaseName, Instructions: []instruction{}})
			continue
		}
		if len(stages) == 0 {
			continue
		}
		one := instruction{Name: name, Line: node.StartLine, Args: []string{}, Flags: node.Flags, Exec: node.Attributes["json"]}
		for word := node.Next; word != nil; word = word.Next {
			one.Args = append(one.Args, word.Value)
		}
		last := &stages[len(stages)-1]
		last.Instructions = append(last.Instructions, one)
	}
	return stages, nil
}
