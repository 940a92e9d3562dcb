// Package attack does what somebody would who wants to mislead an index of a chain, or to stop it: fixtures make a price look
// like what it isn't, hostile tokens are traps for their buyers, hostile contracts answer with what nobody expects, and floods
// are more of something than anybody needs.
package attack
