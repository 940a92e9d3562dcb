package node

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// silence is a table of the node's packet filter. Packets between pods are forwarded by the node.
const silence = `table inet silence {
  chain forward {
    type filter hook forward priority -200; policy accept;
    ip daddr %[1]s tcp dport %[2]d drop
    ip saddr %[1]s tcp sport %[2]d drop
  }
}
`

// Silence drops all packets from and to a TCP port of a pod, as a broken network does: connections stay, and nobody is told. It lasts until speak
// is called.
func (n *Node) Silence(ip string, port int) (speak func() error, err error) {
	if err := n.nft(fmt.Sprintf(silence, ip, port)); err != nil {
		return nil, err
	}
	return func() error { return n.nft("delete table inet silence\n") }, nil
}

// Disk is a file system of a fixed size, for a volume.
type Disk struct {
	// Dir is where it is mounted, on the node alone.
	Dir string

	node *Node
}

// NewDisk makes a disk of so many bytes, in memory.
func (n *Node) NewDisk(name string, bytes int64) (*Disk, error) {
	d := &Disk{filepath.Join(n.dir, name), n}
	if err := os.Mkdir(d.Dir, 0o755); err != nil {
		return nil, err
	}
	return d, n.sandbox.within(unix.CLONE_NEWNS, func() error {
		return unix.Mount("tmpfs", d.Dir, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, fmt.Sprintf("mode=0755,size=%d", bytes))
	})
}

// Fill writes a file until there is no space left.
func (d *Disk) Fill() error {
	return d.node.sandbox.within(unix.CLONE_NEWNS, func() error {
		file, err := os.OpenFile(d.filler(), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
		if err != nil {
			return err
		}
		for piece := make([]byte, 64<<10); err == nil; { // the last pages too
			if _, err = file.Write(piece); errors.Is(err, unix.ENOSPC) && len(piece) > 1 {
				piece, err = piece[:len(piece)/2], nil
			}
		}
		if errors.Is(err, unix.ENOSPC) {
			err = nil
		}
		return errors.Join(err, file.Close())
	})
}

// Free removes what Fill has written.
func (d *Disk) Free() error {
	return d.node.sandbox.within(unix.CLONE_NEWNS, func() error { return os.Remove(d.filler()) })
}

func (d *Disk) filler() string { return filepath.Join(d.Dir, "filler") }
