package model

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/uptrace/bun/dialect/sqlitedialect"
)

// A former image is a row as a flat JSON object, kept in undo.image under the name of the row's table:
//
//   - its keys are the names of the table's columns, in the order of the row type's fields;
//   - numbers, texts and truth values are as in JSON, and a NULL is null;
//   - bytes are base64 with padding, but for addresses, which are texts with their kind (addresstext.go);
//   - of a row that was not there it has the primary key alone.
//
// This is a persisted format: testdata/images holds an image of each table, and docs/adr/0014 says how it may change.
//
// A row type declares it by its fields' tags: bun's has the column, and `image:"address"` marks an address. `image:"later"` marks a column
// that images written before it lack: it comes back as the zero value, which must be the column's default. Both are written with a comma
// between.

// ImageForm is the format of one table's images.
type ImageForm struct {
	Table  string
	fields []imageField
}

type imageField struct {
	column string
	label  string // `"column":`
	index  []int
	kind   imageKind
	key    bool // of the primary key
	later  bool
}

type imageKind uint8

const (
	noKind imageKind = iota
	imageText
	imageBool
	imageInt
	imageIntOrNull
	imageFloat
	imageBytes
	imageAddress
)

// ImageForms are the formats by type of row.
var ImageForms = FormsOf(
	reflect.TypeFor[Token](), reflect.TypeFor[Pool](), reflect.TypeFor[Ticks](), reflect.TypeFor[Candle](),
	reflect.TypeFor[Balance](), reflect.TypeFor[Quote](), reflect.TypeFor[Launch](), reflect.TypeFor[Trade](),
	reflect.TypeFor[Queued](), reflect.TypeFor[Job](), reflect.TypeFor[Staging](), reflect.TypeFor[Waiting](),
	reflect.TypeFor[Watched](), reflect.TypeFor[Position](), reflect.TypeFor[Hour](), reflect.TypeFor[Entry](),
	reflect.TypeFor[Fee](),
)

// FormOf is the format of the images of a type of row.
func FormOf[R any]() *ImageForm { return ImageForms[reflect.TypeFor[R]()] }

// FormsOf are the formats of some types of rows.
func FormsOf(rows ...reflect.Type) map[reflect.Type]*ImageForm {
	out := make(map[reflect.Type]*ImageForm, len(rows))
	tables := sqlitedialect.New().Tables() // of PostgreSQL the names are the same
	for _, row := range rows {
		t := tables.Get(row)
		form := &ImageForm{Table: t.Name}
		for _, f := range t.Fields {
			field := imageField{column: f.Name, label: strconv.Quote(f.Name) + ":", index: f.Index, key: f.IsPK, kind: kindOf(f.StructField.Type)}
			tags := strings.Split(f.StructField.Tag.Get("image"), ",")
			field.later = slices.Contains(tags, "later")
			if slices.Contains(tags, "address") {
				field.kind = imageAddress
			}
			form.fields = append(form.fields, field)
		}
		out[row] = form
	}
	return out
}

func kindOf(t reflect.Type) imageKind {
	switch {
	case t.Kind() == reflect.String:
		return imageText
	case t.Kind() == reflect.Bool:
		return imageBool
	case t.Kind() == reflect.Int32, t.Kind() == reflect.Int64:
		return imageInt
	case t == reflect.TypeFor[*int64]():
		return imageIntOrNull
	case t.Kind() == reflect.Float64:
		return imageFloat
	case t == reflect.TypeFor[[]byte]():
		return imageBytes
	default:
		return noKind // no image can have it
	}
}

// Append appends the image of a row; existed says whether the row was there.
func (f *ImageForm) Append(dst []byte, row reflect.Value, existed bool) (_ []byte, err error) {
	separator := byte('{')
	for i := range f.fields {
		field := &f.fields[i]
		if !existed && !field.key {
			continue
		}
		dst = append(append(dst, separator), field.label...)
		separator = ','
		if dst, err = field.append(dst, row.FieldByIndex(field.index)); err != nil {
			return nil, fmt.Errorf("%s.%s: %w", f.Table, field.column, err)
		}
	}
	return append(dst, '}'), nil
}

func (f *imageField) append(dst []byte, v reflect.Value) ([]byte, error) {
	switch f.kind {
	case imageText:
		return appendText(dst, v.String())
	case imageBool:
		return strconv.AppendBool(dst, v.Bool()), nil
	case imageInt:
		return strconv.AppendInt(dst, v.Int(), 10), nil
	case imageIntOrNull:
		if v.IsNil() {
			return append(dst, "null"...), nil
		}
		return strconv.AppendInt(dst, v.Elem().Int(), 10), nil
	case imageFloat:
		n := v.Float()
		if math.IsNaN(n) || math.IsInf(n, 0) {
			return nil, fmt.Errorf("%v is no number in JSON", n)
		}
		return strconv.AppendFloat(dst, n, 'g', -1, 64), nil
	case imageBytes, imageAddress:
		b := v.Bytes()
		if b == nil {
			return append(dst, "null"...), nil
		}
		dst = append(dst, '"')
		if f.kind == imageBytes {
			return append(base64.StdEncoding.AppendEncode(dst, b), '"'), nil
		}
		var err error
		dst, err = appendAddress(dst, b)
		return append(dst, '"'), err
	case noKind:
	}
	return nil, errImageKind
}

func appendText(dst []byte, s string) ([]byte, error) {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= 0x7f || c == '"' || c == '\\' {
			quoted, err := json.Marshal(s)
			return append(dst, quoted...), err
		}
	}
	return append(append(append(dst, '"'), s...), '"'), nil
}

// Read fills a row from its image. Keys that it doesn't know are a newer binary's and are passed over.
func (f *ImageForm) Read(image []byte, row reflect.Value, existed bool) error {
	if !json.Valid(image) {
		return fmt.Errorf("an image of %s: %w", f.Table, errNoImage)
	}
	return f.ReadWhole(image, row, existed)
}

// ReadWhole is Read of an image that is known to be as it was written. To check that it is JSON takes as long as to read it.
func (f *ImageForm) ReadWhole(image []byte, row reflect.Value, existed bool) error {
	r := imageReader{in: image}
	seen := make([]bool, len(f.fields))
	next := 0 // images mostly have the fields in their order
	for r.field() {
		i := f.find(r.key, next)
		if i < 0 {
			continue
		}
		if seen[i] {
			return fmt.Errorf("%s.%s stands twice in an image", f.Table, f.fields[i].column)
		}
		if err := f.fields[i].read(r.value, row.FieldByIndex(f.fields[i].index)); err != nil {
			return fmt.Errorf("%s.%s: %w", f.Table, f.fields[i].column, err)
		}
		seen[i], next = true, i+1
	}
	if r.err != nil {
		return fmt.Errorf("an image of %s: %w", f.Table, r.err)
	}
	for i, field := range f.fields {
		if !seen[i] && !field.later && (existed || field.key) {
			return fmt.Errorf("an image of %s lacks %s", f.Table, field.column)
		}
	}
	return nil
}

func (f *ImageForm) find(key []byte, next int) int {
	if next < len(f.fields) && string(key) == f.fields[next].column {
		return next
	}
	for i := range f.fields {
		if string(key) == f.fields[i].column {
			return i
		}
	}
	return -1
}

var (
	errImageValue = errors.New("a value of another type")
	errImageKind  = errors.New("columns of its type can't be in an image")
)

func (f *imageField) read(value []byte, v reflect.Value) error {
	null := string(value) == "null"
	switch f.kind {
	case imageText:
		s, err := readText(value)
		v.SetString(s)
		return err
	case imageBool:
		b := string(value) == "true"
		if !b && string(value) != "false" {
			return errImageValue
		}
		v.SetBool(b)
		return nil
	case imageInt, imageIntOrNull:
		if null && f.kind == imageIntOrNull {
			return nil
		}
		n, err := strconv.ParseInt(string(value), 10, 64)
		switch {
		case err != nil:
			return errImageValue
		case f.kind == imageIntOrNull:
			v.Set(reflect.ValueOf(&n))
		case v.OverflowInt(n):
			return errImageValue
		default:
			v.SetInt(n)
		}
		return nil
	case imageFloat:
		n, err := strconv.ParseFloat(string(value), 64)
		if err != nil || math.IsNaN(n) || math.IsInf(n, 0) {
			return errImageValue
		}
		v.SetFloat(n)
		return nil
	case imageBytes, imageAddress:
		if null {
			return nil
		}
		b, err := f.readBytes(value)
		v.SetBytes(b)
		return err
	case noKind:
	}
	return errImageKind
}

func (f *imageField) readBytes(value []byte) ([]byte, error) {
	if len(value) < 2 || value[0] != '"' {
		return nil, errImageValue
	}
	value = value[1 : len(value)-1]
	if f.kind == imageAddress {
		return parseAddress(value)
	}
	return base64.StdEncoding.AppendDecode(make([]byte, 0, base64.StdEncoding.DecodedLen(len(value))), value)
}

func readText(value []byte) (s string, err error) {
	if value[0] != '"' {
		return "", errImageValue
	}
	for _, c := range value {
		if c == '\\' || c < ' ' {
			err = json.Unmarshal(value, &s)
			return s, err
		}
	}
	return string(value[1 : len(value)-1]), nil
}

// imageReader takes a flat JSON object apart. What it is given is JSON; the reader sees to the rest.
type imageReader struct {
	in         []byte
	at         int
	key, value []byte // of the last field; the value is as it stands, quotes and all
	err        error
}

var errNoImage = errors.New("it isn't a flat JSON object")

// field goes to the next field; it is false at the end of the object, and where there is an error.
func (r *imageReader) field() bool {
	first := r.key == nil
	opened := !first || r.take('{')
	if opened && r.end() {
		return false
	}
	if !opened || !first && !r.take(',') {
		r.err = errNoImage
		return false
	}
	key := r.scan()
	if len(key) < 2 || key[0] != '"' || !r.take(':') {
		r.err = errNoImage
		return false
	}
	r.key, r.value = key[1:len(key)-1], r.scan()
	if len(r.value) == 0 {
		r.err = errNoImage
		return false
	}
	return true
}

// next is the next byte that isn't white; 0 at the end.
func (r *imageReader) next() byte {
	for ; r.at < len(r.in); r.at++ {
		switch c := r.in[r.at]; c {
		case ' ', '\t', '\n', '\r':
		default:
			return c
		}
	}
	return 0
}

func (r *imageReader) take(c byte) bool {
	ok := r.next() == c
	if ok {
		r.at++
	}
	return ok
}

// end takes the closing brace, after which nothing may follow.
func (r *imageReader) end() bool {
	if !r.take('}') {
		return false
	}
	if r.next() != 0 {
		r.err = errNoImage
	}
	return true
}

// scan takes a text with its quotes, or a number or a word; nothing where there is neither.
func (r *imageReader) scan() []byte {
	quoted := r.next() == '"'
	start := r.at
	if quoted {
		for r.at++; r.at < len(r.in); r.at++ {
			switch r.in[r.at] {
			case '\\':
				r.at++
			case '"':
				r.at++
				return r.in[start:r.at]
			}
		}
		return nil
	}
	for r.at < len(r.in) && bytes.IndexByte([]byte(" \t\r\n,:{}[]\""), r.in[r.at]) < 0 {
		r.at++
	}
	return r.in[start:r.at]
}
