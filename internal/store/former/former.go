// Package former has rows as they were before a block changed them: packed, as a commit writes them, and one by one, as a rewind reads them.
package former

import (
	"cmp"
	"fmt"
	"reflect"

	"github.com/uptrace/bun"

	"github.com/boardwalkhq/boardwalk/internal/store/model"
)

// Row is what a row was before a block's commit changed it, or a pack of many such (pack.go).
type Row struct {
	bun.BaseModel `bun:"table:undo"`

	Chain string `bun:",pk"`
	Block int64  `bun:",pk"`
	Seq   int64  `bun:",pk"`
	// Tbl is the name of the row's table, or PackTable.
	Tbl     string
	Existed bool
	// Image is the former row in the format of model/image.go; if the row did not exist, it is the key only.
	Image []byte
	// whole says that the image comes from a pack, whose sum of all bytes is right: it is the JSON that was written.
	whole bool
}

// Table is the name of the row's table, which an older version may have written in another way.
func (r *Row) Table() string { return cmp.Or(model.OldImages[r.Tbl].Table, r.Tbl) }

// Unpacked are former images one by one, in the order of their making. Former versions wrote them so.
func Unpacked(rows []Row) ([]Row, error) {
	var out []Row
	for i := range rows {
		r := &rows[i]
		if r.Tbl != PackTable {
			out = append(out, *r)
			continue
		}
		err := EachImage(r.Image, func(table string, existed bool, image []byte) {
			out = append(out, Row{Chain: r.Chain, Block: r.Block, Tbl: table, Existed: existed, Image: image, whole: true})
		})
		if err != nil {
			return nil, fmt.Errorf("database: read what block %d changed: %w", r.Block, err)
		}
	}
	return out, nil
}

// Read is the row of a former image, in the form of today or of c9acfc3.
func Read[R any](u *Row) (row R, err error) {
	form, v := model.FormOf[R](), reflect.ValueOf(&row).Elem()
	switch old, ok := model.OldImages[u.Tbl]; {
	case ok:
		err = old.Read(form, u.Image, v)
	case u.whole:
		err = form.ReadWhole(u.Image, v, u.Existed)
	default:
		err = form.Read(u.Image, v, u.Existed)
	}
	if err != nil {
		return row, fmt.Errorf("database: block %d, a former row: %w", u.Block, err)
	}
	return row, nil
}

// Rows reads former images: all of them, and of the first of each row those that come back and those that were none.
func Rows[R any](undo []Row, stamp func(*R, model.Stamped), as model.Stamped) (rows, back, gone []R, err error) {
	rows = make([]R, len(undo))
	form, seen := model.FormOf[R](), make(map[string]bool, len(undo))
	var key []byte
	for i := range undo {
		if rows[i], err = Read[R](&undo[i]); err != nil {
			return nil, nil, nil, err
		}
		if key, err = form.Append(key[:0], reflect.ValueOf(&rows[i]).Elem(), false); err != nil {
			return nil, nil, nil, fmt.Errorf("database: the key of a former row of %w", err)
		}
		if seen[string(key)] {
			continue
		}
		seen[string(key)] = true
		if stamp != nil {
			stamp(&rows[i], as)
		}
		if undo[i].Existed {
			back = append(back, rows[i])
		} else {
			gone = append(gone, rows[i])
		}
	}
	return rows, back, gone, nil
}
