package derive

// CachedRows counts what a state holds, by table.
func (s *State) CachedRows() map[string]int {
	return map[string]int{
		"tokens": s.tokens.size(), "pools": s.pools.size(), "ticks": s.ticks.size(), "candles": s.candles.size(), "balances": s.balances.size(),
		"launches": s.launches.size(), "curves": s.curves.size(), "bases": len(s.byBase),
	}
}
