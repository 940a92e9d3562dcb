package stream

// Keeping has a follower keep so many items of a kind.
func (f *Follower) Keeping(n int) *Follower {
	f.kept = n
	return f
}
