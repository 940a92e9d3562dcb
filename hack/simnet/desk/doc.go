// Package desk acts for everybody who has to do with launches on a world's venues: a Desk launches tokens, each with a fate,
// trades on them and graduates them.
package desk
