package model

import (
	"cmp"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// Stamp is the block in which something last changed.
type Stamp struct {
	Block uint64 // 0 where it isn't known
	At    int64  // its time; unix seconds
}

// Latest is the newer of two stamps.
func (s Stamp) Latest(o Stamp) Stamp {
	if cmp.Or(cmp.Compare(o.At, s.At), cmp.Compare(o.Block, s.Block)) > 0 {
		return o
	}
	return s
}

// Stamped are the columns that say by which commit a row came to be as it is. A commit of many blocks stamps all its rows
// with its last block.
type Stamped struct {
	CommitNo     int64
	ChangedBlock int64
	ChangedAt    int64
}

// StampOf is the stamp of what a commit changes whose newest block has a header.
func StampOf(commitNo int64, h market.Header) Stamped {
	return Stamped{CommitNo: commitNo, ChangedBlock: int64(h.Number), ChangedAt: h.Time}
}

// Changed is the row's stamp. A row from before there were stamps has the newest time of what it tells instead, without a block.
func (s *Stamped) Changed(tells ...int64) Stamp {
	out := Stamp{Block: uint64(s.ChangedBlock), At: s.ChangedAt}
	if out.At == 0 {
		for _, at := range tells {
			out.At = max(out.At, at)
		}
	}
	return out
}

// Stamp sets the columns, for every type of row that embeds them.
func (s *Stamped) Stamp(as Stamped) { *s = as }
