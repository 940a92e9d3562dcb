package debian

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Sources are what a machine says about where its own packages come from: one-line and stanza formats apart, since a file
// can hold one of them alone. Of both only what is of the distribution's release counts: third parties' packages aren't needed.
type Sources struct {
	// Release is the distribution's codename, such as bookworm, and OS the machine's /etc/os-release.
	Release, OS string

	lines, stanzas string
}

// ReadSources reads below etc, which is /etc but in tests.
func ReadSources(etc string) (Sources, error) {
	system, err := os.ReadFile(filepath.Join(etc, "os-release"))
	if err != nil {
		return Sources{}, err
	}
	sources := Sources{OS: string(system)}
	for line := range strings.Lines(sources.OS) {
		if name, found := strings.CutPrefix(strings.TrimSpace(line), "VERSION_CODENAME="); found {
			sources.Release = strings.Trim(name, `"`)
		}
	}
	if sources.Release == "" {
		return Sources{}, errors.New("/etc/os-release names no release: run this on Debian or Ubuntu")
	}
	files, err := filepath.Glob(filepath.Join(etc, "apt", "sources.list.d", "*"))
	if err != nil {
		return Sources{}, err
	}
	for _, path := range append([]string{filepath.Join(etc, "apt", "sources.list")}, files...) {
		content, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return Sources{}, err
		}
		switch filepath.Ext(path) {
		case ".list":
			sources.lines += ofRelease(strings.SplitAfter(string(content), "\n"), sources.Release, lineSuites)
		case ".sources":
			sources.stanzas += ofRelease(stanzas(string(content)), sources.Release, stanzaSuites)
		}
	}
	if sources.lines == "" && sources.stanzas == "" {
		return Sources{}, fmt.Errorf("the files under /etc/apt name no source of %s", sources.Release)
	}
	return sources, nil
}

// Write puts the sources into files of a directory, as apt and mmdebstrap read them.
func (s Sources) Write(dir string) (files []string, err error) {
	for name, content := range map[string]string{"machine.list": s.lines, "machine.sources": s.stanzas} {
		if content == "" {
			continue
		}
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	return files, nil
}

// String is the same as long as packages come from the same place.
func (s Sources) String() string { return s.Release + "\n" + s.lines + s.stanzas }

// ofRelease keeps the entries whose first suite is the release or a part of it, such as bookworm-security.
func ofRelease(entries []string, release string, suites func(string) []string) string {
	var kept strings.Builder
	for _, entry := range entries {
		if of := suites(entry); len(of) > 0 && (of[0] == release || strings.HasPrefix(of[0], release+"-")) {
			kept.WriteString(entry)
		}
	}
	return kept.String()
}

// lineSuites reads `deb [options] URI SUITE COMPONENT...`.
func lineSuites(line string) []string {
	fields := strings.Fields(line)
	if len(fields) == 0 || fields[0] != "deb" {
		return nil
	}
	for i := 1; i < len(fields); i++ {
		if strings.Contains(fields[i], "://") && !strings.HasPrefix(fields[i], "[") && i+1 < len(fields) {
			return fields[i+1 : i+2]
		}
	}
	return nil
}

// stanzas are separated by empty lines.
func stanzas(content string) []string {
	var all []string
	var current strings.Builder
	lines := bufio.NewScanner(strings.NewReader(content + "\n\n"))
	for lines.Scan() {
		switch line := lines.Text(); {
		case strings.HasPrefix(line, "#"):
		case strings.TrimSpace(line) != "":
			current.WriteString(line + "\n")
		case current.Len() > 0:
			all = append(all, current.String()+"\n")
			current.Reset()
		}
	}
	return all
}

func stanzaSuites(stanza string) []string {
	fields := make(map[string]string)
	for line := range strings.Lines(stanza) {
		name, value, _ := strings.Cut(line, ":")
		fields[strings.ToLower(name)] = strings.TrimSpace(value)
	}
	if strings.EqualFold(fields["enabled"], "no") || !strings.Contains(" "+fields["types"]+" ", " deb ") {
		return nil
	}
	return strings.Fields(fields["suites"])
}
