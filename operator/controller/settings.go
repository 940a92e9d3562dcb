package controller

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/boardwalkhq/boardwalk/api/v1alpha1"
	"github.com/boardwalkhq/boardwalk/internal/wait"
	"github.com/boardwalkhq/boardwalk/operator/workload"
)

// settingsPause is the time between two looks at the file of settings.
const settingsPause = 5 * time.Second

// settings are what holds for all indexers. They change with their file while the operator runs.
type settings struct {
	// file is the one with workload.Indexers; empty for settings that never change.
	file  string
	pause time.Duration
	log   *slog.Logger
	valid prometheus.Gauge
	// changed has something each time that all chains have to be looked at again.
	changed chan event.GenericEvent

	mu   sync.Mutex
	now  workload.Settings
	read []byte // what was in the file
}

func newSettings(o *Options, pause time.Duration) (*settings, error) {
	s := &settings{
		file: o.IndexersFile, pause: pause, log: o.Log, now: o.Workload, changed: make(chan event.GenericEvent, 1),
		valid: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "boardwalk_operator_settings_valid",
			Help: "Whether the file with the indexers' settings can be used (1); else the former settings hold (0).",
		}),
	}
	s.valid.Set(1)
	if err := o.Metrics.Register(s.valid); err != nil {
		return nil, err
	}
	if s.file == "" {
		return s, nil
	}
	_, err := s.reread()
	return s, err
}

// get gives the settings as they are now.
func (s *settings) get() workload.Settings {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

// use sets the image, which isn't in the file.
func (s *settings) use(image string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now.Image = image
}

// reread reads the file, and says whether it says something else than before.
func (s *settings) reread() (changed bool, err error) {
	raw, err := os.ReadFile(s.file)
	if err != nil {
		return false, fmt.Errorf("read the indexers' settings: %w", err)
	}
	if s.read != nil && bytes.Equal(raw, s.read) {
		return false, nil
	}
	x, err := workload.ParseIndexers(raw)
	if err != nil {
		return false, fmt.Errorf("the indexers' settings in %s: %w", s.file, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now.Indexers, s.read = x, raw
	return true, nil
}

// Start looks at the file until ctx ends. What is wrong with it is told once; the settings before it hold.
func (s *settings) Start(ctx context.Context) error {
	for told := ""; s.file != "" && wait.For(ctx, s.pause); {
		changed, err := s.reread()
		if err != nil {
			s.valid.Set(0)
			if err.Error() != told {
				told = err.Error()
				s.log.ErrorContext(ctx, "the indexers' settings can't be used; the former ones hold", "err", told)
			}
			continue
		}
		told = ""
		s.valid.Set(1)
		if changed {
			s.log.InfoContext(ctx, "the indexers' settings changed")
			select {
			case s.changed <- event.GenericEvent{Object: &v1alpha1.Chain{}}:
			default: // all chains are about to be looked at, or nobody acts here yet
			}
		}
	}
	return nil
}

// NeedLeaderElection says that an operator that stands by reads them as well.
func (s *settings) NeedLeaderElection() bool { return false }
