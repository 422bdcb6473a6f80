// Command deploycheck asks the parsers of Docker itself what the deployment files mean: BuildKit's for a Dockerfile and its
// ignore file, compose-go's for a compose file. It prints JSON and fails when they refuse the file or warn about it.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"
)

const usage = `usage:
  deploycheck dockerfile <Dockerfile> [NAME=VALUE ...]   lints all stages, prints them with their instructions
  deploycheck context <folder> <ignore file>             prints the files of a build context
  deploycheck compose <compose file> [env file]          prints the project as docker compose would run it`

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) < 2 {
		return fmt.Errorf("%s", usage)
	}
	switch args[0] {
	case "dockerfile":
		return dockerfile(ctx, args[1], args[2:])
	case "context":
		if len(args) != 3 {
			return fmt.Errorf("%s", usage)
		}
		return buildContext(args[1], args[2])
	case "compose":
		return composeFile(ctx, args[1], args[2:])
	default:
		return fmt.Errorf("%s", usage)
	}
}

func printJSON(value any) error {
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(value)
}
