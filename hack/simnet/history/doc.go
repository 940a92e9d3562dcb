// Package history mines the blocks of a world: its past at once, and then a block every few seconds, with what traders and a desk
// do in them.
package history
