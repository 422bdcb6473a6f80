package main

import (
	"context"
	"path/filepath"

	"github.com/compose-spec/compose-go/v2/cli"
)

// composeFile loads the project as `docker compose` does: schema, interpolation, references between services. Nothing of
// the environment is read but the files that are named, so that the result is the same everywhere.
func composeFile(ctx context.Context, file string, envFiles []string) error {
	folder, err := filepath.Abs(filepath.Dir(file))
	if err != nil {
		return err
	}
	options, err := cli.NewProjectOptions(
		[]string{file},
		cli.WithWorkingDirectory(folder),
		cli.WithEnvFiles(envFiles...),
		cli.WithDotEnv,
		cli.WithDefaultProfiles("*"),
		cli.WithResolvedPaths(false),
		cli.WithInterpolation(true),
		cli.WithNormalization(true),
		cli.WithConsistency(true),
	)
	if err != nil {
		return err
	}
	project, err := options.LoadProject(ctx)
	if err != nil {
		return err
	}
	return printJSON(project)
}
