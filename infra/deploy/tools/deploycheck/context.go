package main

import (
	"io/fs"
	"os"
	"path/filepath"

	"github.com/moby/patternmatcher"
	"github.com/moby/patternmatcher/ignorefile"
)

// buildContext lists what a build would be sent, in the order of the names.
func buildContext(folder, ignoreFile string) error {
	file, err := os.Open(ignoreFile)
	if err != nil {
		return err
	}
	defer file.Close()
	patterns, err := ignorefile.ReadAll(file)
	if err != nil {
		return err
	}
	matcher, err := patternmatcher.New(patterns)
	if err != nil {
		return err
	}
	files := []string{}
	err = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(folder, path)
		if err != nil || name == "." {
			return err
		}
		ignored, err := matcher.MatchesOrParentMatches(filepath.ToSlash(name))
		if err != nil {
			return err
		}
		// Only a pattern that takes something back could save what is inside.
		if ignored && entry.IsDir() && !matcher.Exclusions() {
			return filepath.SkipDir
		}
		if !ignored && !entry.IsDir() {
			files = append(files, filepath.ToSlash(name))
		}
		return nil
	})
	if err != nil {
		return err
	}
	return printJSON(files)
}
