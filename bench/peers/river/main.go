// River as its own benchmark runs it: jobs inserted by COPY in large batches, 2,000 workers, a fetch every 2 ms at most.
// river DATABASE-URL: reads commands from stdin, answers each with a line of JSON, as ../graphile.mjs.
//
//	enqueue N    adds N jobs          execute    runs a client until all are done
package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
)

const batch = 10_000

type Noop struct {
	Row int `json:"row"`
}

func (Noop) Kind() string { return "noop" }

type worker struct {
	river.WorkerDefaults[Noop]
	left *atomic.Int64
	done chan struct{}
}

func (w *worker) Work(context.Context, *river.Job[Noop]) error {
	if w.left.Add(-1) == 0 {
		w.done <- struct{}{}
	}
	return nil
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "river:", err)
		os.Exit(1)
	}
}

func main() {
	ctx := context.Background()
	config, err := pgxpool.ParseConfig(os.Args[1])
	must(err)
	config.MaxConns = 30
	pool, err := pgxpool.NewWithConfig(ctx, config)
	must(err)
	driver := riverpgxv5.New(pool)
	migrator, err := rivermigrate.New(driver, nil)
	must(err)
	_, err = migrator.Migrate(ctx, rivermigrate.DirectionUp, nil)
	must(err)

	noop := &worker{left: &atomic.Int64{}, done: make(chan struct{}, 1)}
	client := func() *river.Client[pgx.Tx] {
		workers := river.NewWorkers()
		river.AddWorker(workers, noop)
		made, err := river.NewClient(driver, &river.Config{
			FetchCooldown:     2 * time.Millisecond,
			FetchPollInterval: 20 * time.Millisecond,
			Logger:            slog.New(slog.NewTextHandler(io.Discard, nil)),
			Queues:            map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: 2_000}},
			Workers:           workers,
		})
		must(err)
		return made
	}
	enqueue := func(n int) {
		inserting := client()
		for at := 0; at < n; at += batch {
			jobs := make([]river.InsertManyParams, min(batch, n-at))
			for i := range jobs {
				jobs[i] = river.InsertManyParams{Args: Noop{Row: at + i}}
			}
			_, err := inserting.InsertManyFast(ctx, jobs)
			must(err)
		}
		noop.left.Store(int64(n))
	}
	execute := func() {
		working := client()
		must(working.Start(ctx))
		<-noop.done
		must(working.Stop(ctx)) // completions are flushed before this returns
	}

	fmt.Println(`{"ready":true}`)
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); fmt.Println("{}") {
		var name string
		var n int
		fmt.Sscan(lines.Text(), &name, &n)
		switch name {
		case "enqueue":
			enqueue(n)
		case "execute":
			execute()
		default:
			must(fmt.Errorf("%q is no command", name))
		}
	}
}
