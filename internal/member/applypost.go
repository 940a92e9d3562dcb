package member

import "slices"

// AddPost takes in a post as it is kept.
func (r *Registry) AddPost(p *Post) { r.Posts[p.ID] = p }

// applyPost writes a record of a post.
func (r *Registry) applyPost(rec *Record) (Outcome, error) {
	p := r.Posts[rec.Post.ID]
	if rec.Deleted {
		return r.deletePost(p, rec)
	}
	author := r.Members[rec.ID]
	if author == nil || author.LeftAt > 0 {
		return "", ErrNoMember
	}
	if p == nil && rec.UpdatedAt <= author.WalletsAfter {
		return Older, nil // from before the author left, and came back
	}
	if p == nil {
		r.newPost(author, rec)
		return Written, nil
	}
	if p.Member != author.Number {
		return "", ErrPostTaken
	}
	if outcome, err := compare(rec.UpdatedAt, p.UpdatedAt, p.DeletedAt == 0 && rec.Post.saysOf(p)); outcome != "" || err != nil {
		return outcome, err
	}
	if !rec.Post.standsWhere(p) {
		return "", ErrPostFixed
	}
	r.changePost(p)
	p.Trade, p.Text, p.Refs, p.UpdatedAt, p.DeletedAt = rec.Post.Trade, rec.Post.Text, rec.Post.Refs, rec.UpdatedAt, 0
	return Written, nil
}

// standsWhere reports whether the post stands where the record says.
func (pr *PostRecord) standsWhere(p *Post) bool {
	return p.Kind == pr.Kind && p.Parent == pr.Parent && p.Chain == pr.Chain && p.Mint == pr.Mint
}

// saysOf reports whether the post is as the record says.
func (pr *PostRecord) saysOf(p *Post) bool {
	return pr.standsWhere(p) && p.Trade == pr.Trade && p.Text == pr.Text && slices.Equal(p.Refs, pr.Refs)
}

// deletePost deletes the text of a post. What answers it stays.
func (r *Registry) deletePost(p *Post, rec *Record) (Outcome, error) {
	if p == nil {
		return "", ErrNoPost
	}
	if outcome, err := compare(rec.UpdatedAt, p.UpdatedAt, p.DeletedAt > 0); outcome != "" || err != nil {
		return outcome, err
	}
	r.changePost(p)
	if p.UpdatedAt = rec.UpdatedAt; p.DeletedAt == 0 {
		p.DeletedAt, p.Trade, p.Text, p.Refs = r.Now, TradeRef{}, "", nil
	}
	return Written, nil
}

func (r *Registry) newPost(author *Member, rec *Record) {
	postedAt := r.Now
	if at := rec.Post.PostedAt; at > 0 {
		postedAt = min(at, r.Now)
	}
	p := &Post{
		ID: rec.Post.ID, Number: r.Last.Posts + 1, Member: author.Number, Kind: rec.Post.Kind, Parent: rec.Post.Parent, Chain: rec.Post.Chain, Mint: rec.Post.Mint,
		Trade: rec.Post.Trade, Text: rec.Post.Text, Refs: rec.Post.Refs, PostedAt: postedAt, UpdatedAt: rec.UpdatedAt,
	}
	r.AddPost(p)
	r.changePost(p)
}

func (r *Registry) changePost(p *Post) {
	r.Last.Posts++
	p.Change = r.Last.Posts
	r.ChangedPosts[p.ID] = true
}
