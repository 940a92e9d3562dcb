// Package contracts has the Solidity that is written here: tokens that misbehave, launch venues, and stand-ins of
// launchpads and exchanges.
package contracts

import (
	"embed"
	"fmt"
)

//go:embed *.sol
var files embed.FS

// Sources are the texts of all files, by "contracts/" and the file's name.
func Sources() (map[string]string, error) {
	entries, err := files.ReadDir(".")
	if err != nil {
		return nil, fmt.Errorf("contracts: %w", err)
	}
	sources := make(map[string]string, len(entries))
	for _, e := range entries {
		content, err := files.ReadFile(e.Name())
		if err != nil {
			return nil, fmt.Errorf("contracts: %w", err)
		}
		sources["contracts/"+e.Name()] = string(content)
	}
	return sources, nil
}
