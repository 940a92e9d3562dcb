package debian

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"time"
)

// merged are the directories of the root that are links into /usr, in Debian and here. Packages may still have files in them.
var merged = []string{"bin", "lib", "lib32", "lib64", "libx32", "sbin"}

// Packer writes files of packages into an archive, sorted by package. All of it is root's, nothing is set-user-ID. The same
// packages give the same bytes.
type Packer struct {
	archive *tar.Writer
	skip    func(name string) bool
	// written are the names that the archive has, true for directories.
	written map[string]bool
	// at is the newest time of what was written.
	at time.Time
}

// NewPacker writes to w, except for files and links that skip names, by a name such as usr/bin/env.
func NewPacker(w io.Writer, skip func(name string) bool) *Packer {
	return &Packer{archive: tar.NewWriter(w), skip: skip, written: make(map[string]bool), at: time.Unix(0, 0)}
}

// Add writes a package's files. What a scanner wants to know of it is put where it looks for packages that no dpkg installed.
func (p *Packer) Add(ctx context.Context, deb string) error {
	command := exec.CommandContext(ctx, "dpkg-deb", "--fsys-tarfile", deb)
	content, err := command.StdoutPipe()
	if err != nil {
		return err
	}
	var complaints strings.Builder
	command.Stderr = &complaints
	if err := command.Start(); err != nil {
		return err
	}
	err = p.files(tar.NewReader(content))
	if err == nil {
		_, err = io.Copy(io.Discard, content) // the padding after the end of the archive
	} else {
		_ = content.Close() // the program ends for want of a reader; err says why
	}
	if ended := command.Wait(); err == nil && ended != nil {
		err = fmt.Errorf("dpkg-deb: %w: %s", ended, complaints.String())
	}
	if err != nil {
		return fmt.Errorf("%s: %w", filepath.Base(deb), err)
	}
	control, err := exec.CommandContext(ctx, "dpkg-deb", "--field", deb).Output()
	if err != nil {
		return fmt.Errorf("%s: dpkg-deb --field: %w", filepath.Base(deb), err)
	}
	name, _, _ := strings.Cut(filepath.Base(deb), "_")
	return p.File("var/lib/dpkg/status.d/"+name, control)
}

// File writes a file that is no package's.
func (p *Packer) File(name string, content []byte) error {
	h := &tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644, Size: int64(len(content)), ModTime: p.at}
	return p.write(h, strings.NewReader(string(content)))
}

// Link writes a symbolic link that is no package's.
func (p *Packer) Link(name, target string) error {
	return p.write(&tar.Header{Typeflag: tar.TypeSymlink, Name: name, Linkname: target, Mode: 0o777, ModTime: p.at}, nil)
}

// Close ends the archive with the root's links into /usr. The io.Writer is its caller's.
func (p *Packer) Close() error {
	for _, dir := range merged {
		if !p.written["usr/"+dir] {
			continue
		}
		if err := p.Link(dir, "usr/"+dir); err != nil {
			return err
		}
	}
	return p.archive.Close()
}

func (p *Packer) files(from *tar.Reader) error {
	for {
		h, err := from.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		name, moved := place(h.Name)
		if h.Typeflag == tar.TypeDir || p.skip(name) {
			continue // directories are made for what is in them
		}
		if moved && strings.HasPrefix(h.Linkname, "../") {
			return fmt.Errorf("%s leads to %s, which is elsewhere from /usr", h.Name, h.Linkname)
		}
		to := &tar.Header{Typeflag: h.Typeflag, Name: name, Mode: h.Mode & int64(fs.ModePerm), Size: h.Size, Linkname: h.Linkname, ModTime: h.ModTime}
		switch h.Typeflag {
		case tar.TypeReg, tar.TypeSymlink:
		case tar.TypeLink:
			to.Linkname, _ = place(h.Linkname)
			if _, there := p.written[to.Linkname]; !there {
				return fmt.Errorf("%s is another name of %s, which was left out", name, to.Linkname)
			}
		default:
			return fmt.Errorf("%s is neither a file nor a link", name)
		}
		if err := p.write(to, from); err != nil {
			return err
		}
	}
}

// place is where a file belongs once the root's directories are links into /usr.
func place(name string) (clean string, moved bool) {
	clean = strings.TrimPrefix(path.Clean("/"+name), "/")
	for _, dir := range merged {
		if strings.HasPrefix(clean, dir+"/") {
			return "usr/" + clean, true
		}
	}
	return clean, false
}

// write adds an entry, below directories of the same time where there are none yet.
func (p *Packer) write(h *tar.Header, content io.Reader) error {
	if _, there := p.written[h.Name]; there {
		return fmt.Errorf("%s is there twice", h.Name)
	}
	for i, c := range h.Name {
		dir := h.Name[:i]
		if c != '/' || p.written[dir] {
			continue
		}
		if _, there := p.written[dir]; there {
			return fmt.Errorf("%s is a file, and the directory of %s", dir, h.Name)
		}
		d := &tar.Header{Typeflag: tar.TypeDir, Name: dir + "/", Mode: 0o755, ModTime: h.ModTime, Format: tar.FormatPAX}
		if err := p.archive.WriteHeader(d); err != nil {
			return err
		}
		p.written[dir] = true
	}
	h.Format, p.written[h.Name] = tar.FormatPAX, false
	if h.ModTime.After(p.at) {
		p.at = h.ModTime
	}
	if err := p.archive.WriteHeader(h); err != nil {
		return err
	}
	if h.Typeflag != tar.TypeReg {
		return nil
	}
	_, err := io.Copy(p.archive, content)
	return err
}
