package people

import "context"

// Round has everybody join who hasn't yet, and is one round of Live.
func (p *People) Round(ctx context.Context) error {
	if err := p.gather(ctx); err != nil {
		return err
	}
	return p.round(ctx)
}
