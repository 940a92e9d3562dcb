package chainconfig

import (
	"strconv"
	"strings"
)

// indexMark stands between a chain's id and a generation. No chain's id has it.
const indexMark = "~"

// IndexID is the id of an index of a chain: of everything that was derived of the chain under one generation, counted from 1. The first index
// has the chain's id, the second one of "base" is "base~2". Numbers below 1 count as 1.
func IndexID(chain string, generation int64) string {
	if generation <= 1 {
		return chain
	}
	return chain + indexMark + strconv.FormatInt(generation, 10)
}

// ChainOfIndex gives the chain and the generation of an index.
func ChainOfIndex(id string) (chain string, generation int64) {
	chain, number, later := strings.Cut(id, indexMark)
	if !later {
		return id, 1
	}
	generation, err := strconv.ParseInt(number, 10, 64)
	if err != nil || generation <= 1 {
		return id, 1 // it is none of IndexID's
	}
	return chain, generation
}
