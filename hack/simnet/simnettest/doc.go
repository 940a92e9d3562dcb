// Package simnettest has what the tests of simnet's packages share: a world of a test's own, and what its contracts say.
package simnettest
