package browser

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/chromedp/chromedp"
)

// guards are the means against requests; a true one is taken away.
type guards struct {
	flags, scripts, namespace bool
}

// options are the browser's flags and environment.
func (o *Options) options(p Protection, program string, h home, modify chromedp.ExecAllocatorOption) []chromedp.ExecAllocatorOption {
	flag := chromedp.Flag
	all := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(program), chromedp.UserDataDir(h.profile), modify,
		flag("no-sandbox", !p.Sandbox),
		// A whole Chromium starts a handler of crashes for each of its processes, which leaves the browser's process group and so
		// outlives it here as a process that nobody waits for.
		flag("disable-crashpad-for-testing", true),
		// The same picture on every machine and at every time.
		flag("lang", "en-US"),
		flag("font-render-hinting", "none"),
		flag("disable-lcd-text", true),
		flag("disable-gpu", true),
		// No frame is made unless it is asked for, and none is: see tab.picture.
		flag("enable-begin-frame-control", true),
		// Not one of this program's variables, among which secrets may be.
		chromedp.NoInheritEnv,
		chromedp.Env("PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8", "TZ=UTC", "HOME="+h.profile, "TMPDIR="+h.temporary,
			"XDG_CACHE_HOME="+filepath.Join(o.folders.profiles, cacheFolder)),
	)
	if !o.without.flags {
		all = append(all,
			flag("host-resolver-rules", "MAP * ~NOTFOUND"),
			// A proxy where nobody listens, for loopback addresses too.
			flag("proxy-server", "127.0.0.1:9"),
			flag("proxy-bypass-list", "<-loopback>"),
			flag("force-webrtc-ip-handling-policy", "disable_non_proxied_udp"),
		)
	}
	return all
}

// debianFolder is where Debian has the programs that its scripts in /usr/bin start.
const debianFolder = "/usr/lib/chromium"

// find gives the path of a browser. Debian's is a script that waits for the browser as its child; the browser itself is
// taken, since what is started here must be what is watched.
func find(program string) (string, error) {
	path, err := exec.LookPath(program)
	if err != nil {
		return "", fmt.Errorf("browser: %w: install the package %s, or name another Chromium", err, Program)
	}
	script, err := isScript(path)
	if err != nil {
		return "", fmt.Errorf("browser: %w", err)
	}
	if behind := filepath.Join(debianFolder, filepath.Base(path)); script {
		if _, err := os.Stat(behind); err == nil {
			return behind, nil
		}
	}
	return path, nil
}

func isScript(path string) (bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer func() { _ = f.Close() }()
	start := make([]byte, 2)
	if _, err := io.ReadFull(f, start); err != nil {
		return false, err
	}
	return bytes.Equal(start, []byte("#!")), nil
}
